import { tryOutOperationsOf } from './operations.ts';

tryOutOperationsOf('Events', 'Webhooks');
