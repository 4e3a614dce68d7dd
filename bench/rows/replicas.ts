import { availableParallelism } from 'node:os';
import { startBackends } from '../harness/backends.ts';
import { type Finding, throughputFinding } from '../harness/findings.ts';
import { measurePairs } from '../harness/pairs.ts';
import { startService } from '../harness/servers.ts';
import { openShop } from '../harness/shop.ts';
import { CONNECTIONS, type Row } from './row.ts';

const MAX_REPLICAS = 4;

/** With fewer cores than processes it only shows that replicas do not slow each other down. */
export const replicas: Row = {
  name: 'replicas',
  async measure(generator, effort) {
    await using backends = await startBackends();
    await using running = new AsyncDisposableStack();
    const first = running.use(await startService(backends));
    const { readPet, createPet } = await openShop(first);
    const servers = [first];
    while (servers.length < MAX_REPLICAS) servers.push(running.use(await startService(backends)));

    const findings: Finding[] = [];
    for (const { what, requests, expectedStatus } of [
      { what: 'GET of one pet', requests: readPet, expectedStatus: 200 },
      { what: 'durable POST of a pet', requests: createPet, expectedStatus: 201 },
    ]) {
      for (const count of [2, MAX_REPLICAS]) {
        const load = { requests, expectedStatus, connections: CONNECTIONS };
        const several = { server: servers.slice(0, count), ...load };
        const pairs = await measurePairs(generator, effort, several, { server: first, ...load });
        const cores = `${availableParallelism()} cores for them, PostgreSQL, Redis and the generator`;
        const goal = {
          what: `PostgreSQL + Redis: ${what}, ${count} replicas / 1, on ${cores}`,
          a: `${count} replicas`,
          b: '1 replica',
          target: undefined,
        };
        findings.push(throughputFinding(goal, pairs));
      }
    }
    return findings;
  },
};
