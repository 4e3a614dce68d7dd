import { tryOutOperationsOf } from './try-it.ts';

tryOutOperationsOf('Events', 'Webhooks', 'Service');
