import { throughputFinding } from '../harness/findings.ts';
import { measurePairs } from '../harness/pairs.ts';
import { startService } from '../harness/servers.ts';
import { openShop } from '../harness/shop.ts';
import { CONNECTIONS, type Row } from './row.ts';

export const writeVsRead: Row = {
  name: 'write-vs-read',
  async measure(generator, effort) {
    await using server = await startService();
    const { readPet, createPet } = await openShop(server);
    const pairs = await measurePairs(
      generator,
      effort,
      { server, requests: createPet, expectedStatus: 201, connections: CONNECTIONS },
      { server, requests: readPet, expectedStatus: 200, connections: CONNECTIONS },
    );
    return [
      throughputFinding(
        { what: 'durable POST of a pet / our GET', a: 'POST', b: 'GET', atLeast: 0.75 },
        pairs,
      ),
    ];
  },
};
