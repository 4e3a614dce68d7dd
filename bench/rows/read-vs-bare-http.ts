import { throughputFinding } from '../harness/findings.ts';
import { captureResponse } from '../harness/http-requests.ts';
import { measurePairs } from '../harness/pairs.ts';
import { startBareHttp, startService } from '../harness/servers.ts';
import { openShop } from '../harness/shop.ts';
import { CONNECTIONS, type Row } from './row.ts';

/** In the middle of the 1,000 pets that are read: its answer is as long as nearly all of theirs. */
const TYPICAL_PET = 500;

export const readVsBareHttp: Row = {
  name: 'read-vs-bare-http',
  async measure(generator, effort) {
    await using service = await startService();
    const { readPet, apiKey } = await openShop(service);
    await using bare = await startBareHttp(
      await captureResponse(service.port, `/pets/${TYPICAL_PET}`, apiKey),
    );
    const load = { requests: readPet, expectedStatus: 200, connections: CONNECTIONS };
    const pairs = await measurePairs(
      generator,
      effort,
      { server: service, ...load },
      { server: bare, ...load },
    );
    const goal = { a: 'service', b: 'bare', atLeast: 0.75 };
    return [
      throughputFinding(
        { what: 'GET of one pet / bare `node:http` with the same bytes and headers', ...goal },
        pairs,
      ),
    ];
  },
};
