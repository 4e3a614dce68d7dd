import { tryOutOperationsOf } from './try-it.ts';

tryOutOperationsOf('Store');
