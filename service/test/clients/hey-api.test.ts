import { testGeneratedClient } from './generated-client.ts';

testGeneratedClient('`@hey-api/openapi-ts`', 'hey-api');
