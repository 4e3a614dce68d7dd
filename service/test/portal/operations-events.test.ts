import { testOperationsOf } from './operations.ts';

testOperationsOf('Events', 'Webhooks', 'Service');
