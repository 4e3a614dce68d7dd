import { testGeneratedClient } from './generated-client.ts';

testGeneratedClient('`orval`, `zod`', 'orval-zod');
