import { testGeneratedClient } from './generated-client.ts';

testGeneratedClient('`swagger-typescript-api`', 'swagger-typescript-api');
