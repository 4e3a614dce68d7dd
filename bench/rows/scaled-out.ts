import { startBackends } from '../harness/backends.ts';
import { type ThroughputGoal, throughputFinding } from '../harness/findings.ts';
import { captureResponse } from '../harness/http-requests.ts';
import { measurePairs } from '../harness/pairs.ts';
import { startBareBackends, startService } from '../harness/servers.ts';
import { NEW_PET, openShop } from '../harness/shop.ts';
import { CONNECTIONS, type Row } from './row.ts';

/** A pet in the middle of the 1,000 that are read. */
const TYPICAL_PET = 500;
const TARGET = { goal: 0.85, moonshot: 0.9 };

export const scaledOut: Row = {
  name: 'scaled-out',
  async measure(generator, effort) {
    await using backends = await startBackends();
    await using service = await startService(backends);
    const { readPet, createPet, apiKey, categoryId } = await openShop(service);
    await using bare = await startBareBackends(backends, {
      get: await captureResponse(service.port, `/pets/${TYPICAL_PET}`, apiKey),
      post: await captureResponse(service.port, '/pets', apiKey, NEW_PET(categoryId)),
    });
    const compare = async (what: string, requests: string[], expectedStatus: number) => {
      const load = { requests, expectedStatus, connections: CONNECTIONS };
      const pairs = await measurePairs(
        generator,
        effort,
        { server: service, ...load },
        { server: bare, ...load },
      );
      const goal: ThroughputGoal = {
        what: `PostgreSQL + Redis: ${what} / bare \`node:http\` with the same calls to both`,
        a: 'service',
        b: 'bare',
        target: TARGET,
      };
      return throughputFinding(goal, pairs);
    };
    return [
      await compare('GET of one pet', readPet, 200),
      await compare('durable POST of a pet', createPet, 201),
    ];
  },
};
