import { setTimeout as sleep } from 'node:timers/promises';
import type { Row } from '../harness/bench.ts';
import { atMost, figure } from '../harness/findings.ts';
import { CONNECTIONS } from '../harness/load-generator.ts';
import { residentMegabytes } from '../harness/process-stats.ts';
import { launchService, startService } from '../harness/servers.ts';
import { openShop } from '../harness/shop.ts';

/** The pause before memory is read. Garbage of the start is collected or not, as in a service without requests. */
const IDLE_MS = 2000;

export const startAndMemory: Row = {
  name: 'start-and-memory',
  async measure({ generator, effort }) {
    const store = await filledStore();
    const { dataDirectory, readPet, createPet } = store;
    const starts: { seconds: number; megabytes: number }[] = [];
    while (starts.length < effort.pairs) starts.push(await measureStart(store));

    await using server = await startService({ dataDirectory });
    for (const requests of [readPet, createPet]) await generator.run({ server, requests }, effort.seconds);
    await sleep(IDLE_MS);
    const after = residentMegabytes(server.pid).toFixed(0);
    return [
      figure({
        what: '`exec` to first response, existing store',
        target: atMost(' s', 0.4, 0.3),
        values: starts.map(({ seconds }) => seconds),
        digits: 2,
        absolute: 'the request is an authenticated GET of a pet',
      }),
      figure({
        what: 'idle memory (resident)',
        target: atMost(' MB', 95, 80),
        values: starts.map(({ megabytes }) => megabytes),
        digits: 0,
        absolute: `${after} MB idle again after ${CONNECTIONS} connections' reads and writes`,
      }),
    ];
  },
};

async function filledStore() {
  await using server = await startService();
  return { dataDirectory: server.dataDirectory, ...(await openShop(server)) };
}

async function measureStart({ dataDirectory, apiKey }: Awaited<ReturnType<typeof filledStore>>) {
  await using server = await launchService({ dataDirectory });
  await server.responds('/pets/1', { 'X-API-Key': apiKey });
  const seconds = (performance.now() - server.startedAt) / 1000;
  await sleep(IDLE_MS);
  return { seconds, megabytes: residentMegabytes(server.pid) };
}
