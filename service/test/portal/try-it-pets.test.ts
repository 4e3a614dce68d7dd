import { tryOutOperationsOf } from './try-it.ts';

tryOutOperationsOf('Animals', 'Categories');
