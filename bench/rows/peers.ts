import { throughputFinding } from '../harness/findings.ts';
import { measurePairs } from '../harness/pairs.ts';
import { type Server, startExpressStack, startFeathersStack, startService } from '../harness/servers.ts';
import { openPeerShop, openShop } from '../harness/shop.ts';
import type { Target } from '../harness/targets.ts';
import { CONNECTIONS, type Row } from './row.ts';

interface Peer {
  name: string;
  what: string;
  start: () => Promise<Server>;
  reads?: Target;
  writes?: Target;
}

export const expressStack = versus({
  name: 'express-stack',
  what: 'Express stack',
  start: startExpressStack,
  reads: { goal: 3.5, moonshot: 5 },
  writes: { goal: 8, moonshot: 12 },
});

export const feathersStack = versus({
  name: 'feathers-stack',
  what: 'Feathers with knex and SQLite',
  start: startFeathersStack,
});

/** Compares the service with a common stack of the same durability, in a separate process. */
function versus({ name, what, start, reads, writes }: Peer): Row {
  return {
    name,
    async measure(generator, effort) {
      await using service = await startService();
      await using peer = await start();
      const ours = await openShop(service);
      const theirs = await openPeerShop(peer);
      const compare = async (operation: 'readPet' | 'createPet', expectedStatus: number) => {
        const load = { expectedStatus, connections: CONNECTIONS };
        return measurePairs(
          generator,
          effort,
          { server: service, requests: ours[operation], ...load },
          { server: peer, requests: theirs[operation], ...load },
        );
      };
      const sides = { a: 'service', b: what };
      return [
        throughputFinding(
          { what: `GET of one pet / ${what}`, ...sides, target: reads },
          await compare('readPet', 200),
        ),
        throughputFinding(
          { what: `durable POST of a pet / ${what}`, ...sides, target: writes },
          await compare('createPet', 201),
        ),
      ];
    },
  };
}
