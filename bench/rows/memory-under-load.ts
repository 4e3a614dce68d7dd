import { setTimeout as sleep } from 'node:timers/promises';
import { startBackends } from '../harness/backends.ts';
import { openStream } from '../harness/event-streams.ts';
import { type Finding, showSpread, spread } from '../harness/findings.ts';
import type { LoadGenerator } from '../harness/load-generator.ts';
import { residentMegabytes } from '../harness/process-stats.ts';
import { type ServiceSettings, startService } from '../harness/servers.ts';
import { openShop } from '../harness/shop.ts';
import { atMost, showTarget } from '../harness/targets.ts';
import { CONNECTIONS, type Row } from './row.ts';

const LOAD_SECONDS = 60;
const STREAMS = 2;
const MEGABYTES = { goal: 170, moonshot: 130 };
const SAMPLE_MS = 250;
const IDLE_MS = 2000;

/** The memory of one process under the highest load of writes, with two readers of its events. */
export const memoryUnderLoad: Row = {
  name: 'memory-under-load',
  async measure(generator) {
    const embedded = await measureMemory('embedded store', {}, generator);
    await using backends = await startBackends();
    return [embedded, await measureMemory('replica on PostgreSQL + Redis', backends, generator)];
  },
};

async function measureMemory(
  name: string,
  settings: ServiceSettings,
  generator: LoadGenerator,
): Promise<Finding> {
  await using server = await startService(settings);
  await sleep(IDLE_MS);
  const idle = residentMegabytes(server.pid);
  const { createPet } = await openShop(server);
  const administratorKey = await server.administratorKey();
  const streams = await Promise.all(
    Array.from({ length: STREAMS }, () => openStream(server.port, '/events/stream', administratorKey)),
  );
  let events = 0;
  for (const stream of streams) {
    stream.on('data', (chunk: Buffer) => {
      for (let at = chunk.indexOf(EVENT); at >= 0; at = chunk.indexOf(EVENT, at + 1)) events++;
    });
  }

  const samples: number[] = [];
  const sampling = setInterval(() => samples.push(residentMegabytes(server.pid)), SAMPLE_MS);
  const { requests, requestsPerSecond } = await generator.run({
    ports: [server.port],
    serverPids: [server.pid],
    connections: CONNECTIONS,
    seconds: LOAD_SECONDS,
    requests: createPet,
    expectedStatus: 201,
  });
  clearInterval(sampling);
  await sleep(IDLE_MS);
  const after = residentMegabytes(server.pid);
  if (streams.some(stream => stream.destroyed)) throw new Error('A stream ended under the load');
  for (const stream of streams) stream.destroy();

  const memory = spread(samples);
  return {
    what: `${name}: maximum resident memory in a minute of durable POSTs with ${STREAMS} event streams`,
    target: showTarget('≤', MEGABYTES, ' MB'),
    measured: `${memory.max.toFixed(0)} MB; ${showSpread(memory, 0, ' MB')}`,
    absolute: `idle ${idle.toFixed(0)} MB before, ${after.toFixed(0)} MB after; ${Math.round(requestsPerSecond).toLocaleString('en')} POSTs/s on ${CONNECTIONS} connections, ${(events / requests).toFixed(2)} events sent per POST`,
    verdict: atMost(memory.max, MEGABYTES),
  };
}

const EVENT = '\nevent: ';
