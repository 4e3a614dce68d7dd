import { showSpread, spread } from '../harness/findings.ts';
import { startService } from '../harness/servers.ts';
import { openShop } from '../harness/shop.ts';
import { atMost, showTarget } from '../harness/targets.ts';
import { CONNECTIONS, type Row } from './row.ts';

const KILOBYTES = { goal: 9, moonshot: 6 };

export const allocation: Row = {
  name: 'allocation',
  async measure(generator, effort) {
    await using server = await startService({ preload: 'allocation-probe' });
    const { readPet } = await openShop(server);
    const read = (seconds: number) =>
      generator.run({
        ports: [server.port],
        serverPids: [server.pid],
        connections: CONNECTIONS,
        seconds,
        requests: readPet,
        expectedStatus: 200,
      });
    await read(effort.warmUpSeconds);
    await server.requestProbe();
    const each: number[] = [];
    while (each.length < effort.pairs) {
      const { requests } = await read(effort.seconds);
      each.push((await server.requestProbe()) / requests / 1000);
    }
    const kilobytes = spread(each);
    return [
      {
        what: 'allocation for one GET of a pet',
        target: showTarget('≤', KILOBYTES, ' kB'),
        measured: showSpread(kilobytes, 1, ' kB'),
        absolute: `on the heap of V8, under the load of ${CONNECTIONS} connections`,
        verdict: atMost(kilobytes.median, KILOBYTES),
      },
    ];
  },
};
