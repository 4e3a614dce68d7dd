import { setTimeout as sleep } from 'node:timers/promises';
import { startBackends } from '../harness/backends.ts';
import type { Bench, Row } from '../harness/bench.ts';
import { atMost, type Finding, showSpread, showTarget, spread, verdictOf } from '../harness/findings.ts';
import { openStream } from '../harness/http.ts';
import { CONNECTIONS } from '../harness/load-generator.ts';
import { residentMegabytes } from '../harness/process-stats.ts';
import { type ServiceSettings, startService } from '../harness/servers.ts';
import { administratorOf, openShop } from '../harness/shop.ts';

const LOAD_SECONDS = 60;
const STREAMS = 2;
const SAMPLE_MS = 250;
const IDLE_MS = 2000;
const EVENT = '\nevent: ';

/** The memory of one process under the highest load of writes, with two readers of its events. */
export const memoryUnderLoad: Row = {
  name: 'memory-under-load',
  async measure(bench) {
    const embedded = await measureMemory(bench, 'embedded store', {});
    await using backends = await startBackends();
    return [embedded, await measureMemory(bench, 'replica on PostgreSQL + Redis', { env: backends.env })];
  },
};

async function measureMemory(
  { generator }: Bench,
  name: string,
  settings: ServiceSettings,
): Promise<Finding> {
  await using server = await startService(settings);
  await sleep(IDLE_MS);
  const idle = residentMegabytes(server.pid);
  const { createPet } = await openShop(server);
  const administrator = await administratorOf(server);
  const streams = await Promise.all(Array.from({ length: STREAMS }, () => openStream(administrator)));
  let events = 0;
  for (const stream of streams) {
    stream.on('data', (chunk: Buffer) => {
      for (let at = chunk.indexOf(EVENT); at >= 0; at = chunk.indexOf(EVENT, at + 1)) events++;
    });
  }

  const samples: number[] = [];
  const sampling = setInterval(() => samples.push(residentMegabytes(server.pid)), SAMPLE_MS);
  const load = generator.run({ server, requests: createPet }, LOAD_SECONDS);
  const { requests, requestsPerSecond } = await load.finally(() => clearInterval(sampling));
  await sleep(IDLE_MS);
  const after = residentMegabytes(server.pid);
  if (streams.some(stream => stream.destroyed)) throw new Error('A stream ended under the load');
  for (const stream of streams) stream.destroy();

  const memory = spread(samples);
  const target = atMost(' MB', 170, 130);
  const perSecond = Math.round(requestsPerSecond).toLocaleString('en');
  return {
    what: `${name}: maximum resident memory in a minute of durable POSTs with ${STREAMS} event streams`,
    target: showTarget(target),
    measured: `${memory.max.toFixed(0)} MB; ${showSpread(memory, 0, ' MB')}`,
    absolute: `idle ${idle.toFixed(0)} MB before, ${after.toFixed(0)} MB after; ${perSecond} POSTs/s on ${CONNECTIONS} connections, ${(events / requests).toFixed(2)} events sent per POST`,
    verdict: verdictOf(target, memory.max),
  };
}
