import type { Row } from '../harness/bench.ts';
import { atMost, figure } from '../harness/findings.ts';
import { CONNECTIONS } from '../harness/load-generator.ts';
import { startService } from '../harness/servers.ts';
import { openShop } from '../harness/shop.ts';

export const allocation: Row = {
  name: 'allocation',
  async measure({ generator, effort }) {
    await using server = await startService({ preload: 'allocation-probe' });
    const load = { server, requests: (await openShop(server)).readPet };
    await generator.run(load, effort.warmUpSeconds);
    await server.requestProbe();
    const values: number[] = [];
    while (values.length < effort.pairs) {
      const { requests } = await generator.run(load, effort.seconds);
      values.push((await server.requestProbe()) / requests / 1000);
    }
    const absolute = `on the heap of V8, under the load of ${CONNECTIONS} connections`;
    const target = atMost(' kB', 11);
    return [figure({ what: 'allocation for one GET of a pet', target, values, digits: 1, absolute })];
  },
};
