import { testGeneratedClient } from './generated-client.ts';

testGeneratedClient('`openapi-typescript`, `openapi-fetch`', 'openapi-fetch');
