import { setTimeout as sleep } from 'node:timers/promises';
import { type Finding, type Spread, showSpread, spread } from '../harness/findings.ts';
import { residentMegabytes } from '../harness/process-stats.ts';
import { launchService, startService } from '../harness/servers.ts';
import { openShop } from '../harness/shop.ts';
import { atMost, showTarget, type Target } from '../harness/targets.ts';
import { CONNECTIONS, type Row } from './row.ts';

const START_SECONDS = { goal: 0.4, moonshot: 0.3 };
const IDLE_MEGABYTES = { goal: 95, moonshot: 80 };
/** The pause before memory is read. Garbage of the start is collected or not, as in a service without requests. */
const IDLE_MS = 2000;

export const startAndMemory: Row = {
  name: 'start-and-memory',
  async measure(generator, effort) {
    const store = await fillStore();
    const starts: { seconds: number; megabytes: number }[] = [];
    while (starts.length < effort.pairs) starts.push(await measureStart(store));

    await using server = await startService({ dataDirectory: store.dataDirectory });
    const load = {
      ports: [server.port],
      serverPids: [server.pid],
      connections: CONNECTIONS,
      seconds: effort.seconds,
    };
    await generator.run({ ...load, requests: store.readPet, expectedStatus: 200 });
    await generator.run({ ...load, requests: store.createPet, expectedStatus: 201 });
    await sleep(IDLE_MS);
    const afterLoad = `${residentMegabytes(server.pid).toFixed(0)} MB idle again after ${CONNECTIONS} connections' reads and writes`;

    const seconds = spread(starts.map(start => start.seconds));
    const megabytes = spread(starts.map(start => start.megabytes));
    return [
      figure(
        '`exec` to first response, existing store',
        seconds,
        START_SECONDS,
        2,
        ' s',
        'the request is an authenticated GET of a pet',
      ),
      figure('idle memory (resident)', megabytes, IDLE_MEGABYTES, 0, ' MB', afterLoad),
    ];
  },
};

interface Store {
  dataDirectory: string;
  apiKey: string;
  readPet: string[];
  createPet: string[];
}

async function fillStore(): Promise<Store> {
  await using server = await startService();
  const { apiKey, readPet, createPet } = await openShop(server);
  return { dataDirectory: server.dataDirectory, apiKey, readPet, createPet };
}

async function measureStart({ dataDirectory, apiKey }: Store) {
  await using server = await launchService({ dataDirectory });
  await server.responds('/pets/1', { 'X-API-Key': apiKey });
  const seconds = (performance.now() - server.startedAt) / 1000;
  await sleep(IDLE_MS);
  return { seconds, megabytes: residentMegabytes(server.pid) };
}

function figure(
  what: string,
  value: Spread,
  target: Target,
  digits: number,
  unit: string,
  absolute: string,
): Finding {
  return {
    what,
    target: showTarget('≤', target, unit),
    measured: showSpread(value, digits, unit),
    absolute,
    verdict: atMost(value.median, target),
  };
}
