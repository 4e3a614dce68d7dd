import { setTimeout as sleep } from 'node:timers/promises';
import type { Row } from '../harness/bench.ts';
import { atMost, figure } from '../harness/findings.ts';
import { CONNECTIONS } from '../harness/load-generator.ts';
import { residentMegabytes } from '../harness/process-stats.ts';
import { launchService, startService } from '../harness/servers.ts';
import { openShop } from '../harness/shop.ts';

/** The pause before memory is read: V8 returns the memory of garbage about 9 s after it was collected. */
const IDLE_MS = 12_000;

/** How often the idle memory is measured. */
const IDLE_STARTS = 3;

export const startAndMemory: Row = {
  name: 'start-and-memory',
  async measure({ generator, effort }) {
    const store = await filledStore();
    const { dataDirectory, readPet, createPet } = store;
    const starts: number[] = [];
    while (starts.length < effort.pairs) starts.push(await measureStart(store));
    const idle: number[] = [];
    while (idle.length < IDLE_STARTS) idle.push(await measureIdle(dataDirectory));

    await using server = await startService({ dataDirectory });
    for (const requests of [readPet, createPet]) await generator.run({ server, requests }, effort.seconds);
    await sleep(IDLE_MS);
    const after = residentMegabytes(server.pid).toFixed(0);
    return [
      figure({
        what: '`exec` to first response, existing store',
        target: atMost(' s', 0.4, 0.3),
        values: starts,
        digits: 2,
        absolute: 'the request is an authenticated GET of a pet',
      }),
      figure({
        what: 'idle memory (resident)',
        target: atMost(' MB', 95, 80),
        values: idle,
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
  return (performance.now() - server.startedAt) / 1000;
}

async function measureIdle(dataDirectory: string) {
  await using server = await startService({ dataDirectory });
  await sleep(IDLE_MS);
  return residentMegabytes(server.pid);
}
