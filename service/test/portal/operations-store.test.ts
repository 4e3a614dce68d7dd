import { testOperationsOf } from './operations.ts';

testOperationsOf('Orders', 'Inventory', 'Batches');
