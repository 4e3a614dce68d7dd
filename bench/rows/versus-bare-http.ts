import { throughputFinding } from '../harness/findings.ts';
import { captureResponse } from '../harness/http-requests.ts';
import { measurePairs } from '../harness/pairs.ts';
import { startBareHttp, startService } from '../harness/servers.ts';
import { NEW_PET, openShop } from '../harness/shop.ts';
import { CONNECTIONS, type Row } from './row.ts';

/** A pet in the middle of the 1,000 that are read: its response is as long as nearly all others. */
const TYPICAL_PET = 500;

export const versusBareHttp: Row = {
  name: 'versus-bare-http',
  async measure(generator, effort) {
    await using service = await startService();
    const { readPet, createPet, apiKey, categoryId } = await openShop(service);
    await using bareGet = await startBareHttp(
      await captureResponse(service.port, `/pets/${TYPICAL_PET}`, apiKey),
    );
    await using barePost = await startBareHttp(
      await captureResponse(service.port, '/pets', apiKey, NEW_PET(categoryId)),
    );
    const get = { requests: readPet, expectedStatus: 200, connections: CONNECTIONS };
    const post = { requests: createPet, expectedStatus: 201, connections: CONNECTIONS };
    const sides = { a: 'service', b: 'bare', decides: 'throughput and CPU' } as const;
    const reads = await measurePairs(
      generator,
      effort,
      { server: service, ...get },
      { server: bareGet, ...get },
    );
    const writes = await measurePairs(
      generator,
      effort,
      { server: service, ...post },
      { server: barePost, ...post },
    );
    const bare = 'bare `node:http` with the same bytes and headers';
    return [
      throughputFinding(
        { what: `GET of one pet / ${bare}`, ...sides, target: { goal: 0.6, moonshot: 0.75 } },
        reads,
      ),
      throughputFinding(
        { what: `durable POST of a pet / ${bare}`, ...sides, target: { goal: 0.35, moonshot: 0.5 } },
        writes,
      ),
    ];
  },
};
