import { testOperationsOf } from './operations.ts';

testOperationsOf('Account', 'API keys');
