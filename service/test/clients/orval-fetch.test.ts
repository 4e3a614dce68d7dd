import { testGeneratedClient } from './generated-client.ts';

testGeneratedClient('`orval`', 'orval-fetch');
