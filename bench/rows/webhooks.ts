import { text } from 'node:stream/consumers';
import { startBackends } from '../harness/backends.ts';
import type { Row } from '../harness/bench.ts';
import { Endpoint } from '../harness/endpoint.ts';
import { atLeast, figure, medianOf } from '../harness/findings.ts';
import { type Client, post, respond } from '../harness/http.ts';
import { cpuSeconds } from '../harness/process-stats.ts';
import { type Server, startService } from '../harness/servers.ts';
import { administratorOf, NEW_PET, prepareService } from '../harness/shop.ts';

/** The number of events, each of another subject, that each measurement replays. */
const EVENTS = 3_000;
/** The maximum number of operations of a batch. */
const BATCH = 1_000;
/** The maximum number of measurements. Each takes seconds. */
const MAX_DRAINS = 5;

/** How fast pending deliveries are sent to one fast endpoint of a service on PostgreSQL. */
export const webhooks: Row = {
  name: 'webhooks',
  async measure({ effort }) {
    await using backends = await startBackends();
    await using endpoint = await Endpoint.start();
    await using server = await startService({
      env: { ...backends.env, PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' },
    });
    const { categoryId } = await prepareService(server);
    const administrator = await administratorOf(server);
    const create = { method: 'POST', path: '/pets', body: NEW_PET(categoryId) };
    for (let events = 0; events < EVENTS; events += BATCH)
      await post(administrator, '/batch', { operations: Array.from({ length: BATCH }, () => create) });
    // The webhook starts at the end of the log, so it gets only replays.
    const webhook = { url: endpoint.url, types: ['pet.*'] };
    const { id } = await post<{ id: number }>(administrator, '/webhooks', webhook);
    const replay = () => replayAll(administrator, `/webhooks/${id}/replay`);

    const drains: Drain[] = [];
    await drain(server, endpoint, replay);
    while (drains.length < Math.min(effort.pairs, MAX_DRAINS))
      drains.push(await drain(server, endpoint, replay));
    return [
      figure({
        what: 'PostgreSQL + Redis: deliveries per second, 1 webhook, 1 replica',
        target: atLeast('/s', 1_000, 3_000),
        values: drains.map(({ perSecond }) => perSecond),
        digits: 0,
        absolute: `${medianOf(drains, ({ cpu }) => cpu).toFixed(0)} µs CPU of the service per delivery; ${EVENTS} events`,
      }),
    ];
  },
};

interface Drain {
  perSecond: number;
  /** The CPU time of the service, in microseconds per delivery. */
  cpu: number;
}

/** Replays the events, and waits until the endpoint has them. */
async function drain({ pid }: Server, endpoint: Endpoint, replay: () => Promise<void>): Promise<Drain> {
  const cpuBefore = cpuSeconds(pid);
  const startedAt = performance.now();
  const arrived = endpoint.gets(EVENTS);
  await replay();
  await arrived;
  const seconds = (performance.now() - startedAt) / 1_000;
  return { perSecond: EVENTS / seconds, cpu: ((cpuSeconds(pid) - cpuBefore) * 1e6) / EVENTS };
}

/** Starts a replay. Repeats the request until the earlier replay has ended, some milliseconds after its last delivery. */
async function replayAll(administrator: Client, path: string): Promise<void> {
  for (;;) {
    const response = await respond(administrator, 'POST', path, '{"cursor":"0"}');
    const body = await text(response);
    if (response.statusCode === 200) return;
    if (response.statusCode !== 409) throw new Error(`POST ${path}: ${response.statusCode} ${body}`);
  }
}
