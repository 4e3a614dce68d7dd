import { throughputFinding } from '../harness/findings.ts';
import { measurePairs } from '../harness/pairs.ts';
import { startExpressStack, startService } from '../harness/servers.ts';
import { openExpressShop, openShop } from '../harness/shop.ts';
import { CONNECTIONS, type Row } from './row.ts';

export const expressStack: Row = {
  name: 'express-stack',
  async measure(generator, effort) {
    await using service = await startService();
    await using express = await startExpressStack();
    const ours = await openShop(service);
    const theirs = await openExpressShop(express);
    const compare = (operation: 'readPet' | 'createPet', expectedStatus: number) => {
      const load = { expectedStatus, connections: CONNECTIONS };
      return measurePairs(
        generator,
        effort,
        { server: service, requests: ours[operation], ...load },
        { server: express, requests: theirs[operation], ...load },
      );
    };
    const sides = { a: 'service', b: 'Express' };
    const reads = await compare('readPet', 200);
    const writes = await compare('createPet', 201);
    return [
      throughputFinding(
        { what: 'GET of one pet / Express stack', ...sides, target: { goal: 3.5, moonshot: 5 } },
        reads,
      ),
      throughputFinding(
        { what: 'durable POST of a pet / Express stack', ...sides, target: { goal: 8, moonshot: 12 } },
        writes,
      ),
    ];
  },
};
