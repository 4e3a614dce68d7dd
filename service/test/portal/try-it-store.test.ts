import { tryOutOperationsOf } from './try-it.ts';

tryOutOperationsOf('Orders', 'Inventory', 'Batches');
