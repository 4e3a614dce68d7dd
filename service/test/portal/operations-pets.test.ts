import { testOperationsOf } from './operations.ts';

testOperationsOf('Animals', 'Categories');
