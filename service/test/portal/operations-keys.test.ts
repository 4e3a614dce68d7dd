import { tryOutOperationsOf } from './operations.ts';

tryOutOperationsOf('Account', 'API keys', 'Service');
