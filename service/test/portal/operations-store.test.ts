import { testOperationsOf } from './operations.ts';

testOperationsOf('Store');
