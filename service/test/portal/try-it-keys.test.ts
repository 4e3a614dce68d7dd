import { tryOutOperationsOf } from './try-it.ts';

tryOutOperationsOf('Account', 'API keys');
