import { testOperationsOf } from './operations.ts';

testOperationsOf('Platform');
