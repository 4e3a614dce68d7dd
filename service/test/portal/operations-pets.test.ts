import { tryOutOperationsOf } from './operations.ts';

tryOutOperationsOf('Animals', 'Categories');
