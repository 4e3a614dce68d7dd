import { testOperationsOf } from './operations.ts';

testOperationsOf('Pets');
