import { throughputFinding } from '../harness/findings.ts';
import { measurePairs } from '../harness/pairs.ts';
import { startService } from '../harness/servers.ts';
import { openShop } from '../harness/shop.ts';
import { CONNECTIONS, type Row } from './row.ts';

export const groupCommit: Row = {
  name: 'group-commit',
  async measure(generator, effort) {
    await using grouped = await startService();
    await using single = await startService({ writeBatch: 1 });
    const load = { expectedStatus: 201, connections: CONNECTIONS };
    const pairs = await measurePairs(
      generator,
      effort,
      { server: grouped, requests: (await openShop(grouped)).createPet, ...load },
      { server: single, requests: (await openShop(single)).createPet, ...load },
    );
    const goal = { a: 'group commit', b: 'commit per request', target: { goal: 7, moonshot: 10 } };
    return [throughputFinding({ what: 'durable POST of a pet / one commit per request', ...goal }, pairs)];
  },
};
