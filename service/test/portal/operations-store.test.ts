import { tryOutOperationsOf } from './operations.ts';

tryOutOperationsOf('Orders', 'Inventory', 'Batches');
