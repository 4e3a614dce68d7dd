import { tryOutOperationsOf } from './try-it.ts';

tryOutOperationsOf('Pets');
