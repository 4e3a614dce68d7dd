import { testOperationsOf } from './operations.ts';

testOperationsOf('Batches');
