import { startBackends } from '../harness/backends.ts';
import { Endpoint } from '../harness/endpoint.ts';
import { type Finding, medianOf, showSpread, spread } from '../harness/findings.ts';
import { create, postRequest } from '../harness/http-requests.ts';
import type { LoadGenerator } from '../harness/load-generator.ts';
import type { Effort } from '../harness/pairs.ts';
import { cpuSeconds } from '../harness/process-stats.ts';
import { type Server, startService } from '../harness/servers.ts';
import { NEW_PET, prepareService } from '../harness/shop.ts';
import { atLeast, showTarget, type Target } from '../harness/targets.ts';
import { CONNECTIONS, type Row } from './row.ts';

/** The number of events, each of another subject, that each measurement replays to each webhook. */
const EVENTS = Number(process.env.BENCH_WEBHOOK_EVENTS ?? 3_000);

/** The maximum number of measurements of each kind. Each takes seconds. */
const MAX_DRAINS = 5;

/** The deliveries per second that one fast endpoint of a service on PostgreSQL must get. */
const TARGET = { goal: 1_000 };

/** How fast pending deliveries are sent to one endpoint and to several, by one replica and by two. */
export const webhooks: Row = {
  name: 'webhooks',
  async measure(generator, effort) {
    await using backends = await startBackends();
    return [
      ...(await measureStore('SQLite', generator, effort, [{}])),
      ...(await measureStore('PostgreSQL + Redis', generator, effort, [backends, backends])),
    ];
  },
};

async function measureStore(
  store: string,
  generator: LoadGenerator,
  effort: Effort,
  settings: Parameters<typeof startService>[0][],
): Promise<Finding[]> {
  await using running = new AsyncDisposableStack();
  const endpoints: Endpoint[] = [];
  while (endpoints.length < 4)
    endpoints.push(running.use(await Endpoint.start(`127.0.0.${endpoints.length + 2}`)));
  const findings: Finding[] = [];
  let shop: Shop | undefined;
  const servers: Server[] = [];
  for (const some of settings) {
    servers.push(running.use(await startService({ ...some, privateWebhooks: true })));
    shop ??= await openShop(servers[0]!, generator, endpoints);
    for (const webhookIds of [shop.webhookIds.slice(0, 1), shop.webhookIds]) {
      const isGoal = store !== 'SQLite' && servers.length === 1 && webhookIds.length === 1;
      const drains: Drain[] = [];
      await drain(shop, servers, endpoints, webhookIds);
      while (drains.length < Math.min(effort.pairs, MAX_DRAINS))
        drains.push(await drain(shop, servers, endpoints, webhookIds));
      const what =
        `${store}: deliveries per second, ${webhookIds.length} webhook${webhookIds.length > 1 ? 's' : ''}, ` +
        `${servers.length} replica${servers.length > 1 ? 's' : ''}`;
      findings.push(finding(what, drains, isGoal ? TARGET : undefined));
    }
  }
  return findings;
}

interface Shop {
  administratorKey: string;
  /** The cursor after which the log has `EVENTS` events of pets. */
  cursor: string;
  /** One webhook for each endpoint. */
  webhookIds: number[];
}

async function openShop(server: Server, generator: LoadGenerator, endpoints: Endpoint[]): Promise<Shop> {
  const { apiKey, categoryId } = await prepareService(server);
  const administratorKey = await server.administratorKey();
  const latest = async () => {
    const { headers } = await fetch(`http://127.0.0.1:${server.port}/events?cursor=latest`, {
      headers: { 'X-API-Key': administratorKey },
    });
    return Number(/cursor=(\d+)/.exec(headers.get('link') ?? '')?.[1]);
  };
  const requests = [postRequest('/pets', apiKey, NEW_PET(categoryId))];
  const load = { requests, expectedStatus: 201, connections: CONNECTIONS };
  const before = await latest();
  let last = before;
  while (last - before < EVENTS) {
    await generator.run({ ...load, seconds: 1, ports: [server.port], serverPids: [server.pid] });
    last = await latest();
  }
  // Webhooks start at the end of the log, so these get only replays.
  const webhookIds: number[] = [];
  for (const { url } of endpoints) {
    const webhook = { url, types: ['pet.*'] };
    webhookIds.push((await create<{ id: number }>(server.port, '/webhooks', administratorKey, webhook)).id);
  }
  return { administratorKey, cursor: String(last - EVENTS), webhookIds };
}

interface Drain {
  perSecond: number;
  /** The CPU time of all replicas, in microseconds per delivery. */
  cpu: number;
}

/** Replays the events to some webhooks, and waits until their endpoints have them. */
async function drain(
  { administratorKey, cursor }: Shop,
  servers: readonly Server[],
  endpoints: readonly Endpoint[],
  webhookIds: readonly number[],
): Promise<Drain> {
  const pids = servers.map(({ pid }) => pid);
  const cpuBefore = cpuSeconds(pids);
  const startedAt = performance.now();
  const arrived = webhookIds.map((_, i) => endpoints[i]!.gets(EVENTS));
  for (const [i, webhookId] of webhookIds.entries()) {
    const { port } = servers[i % servers.length]!;
    await replay(`http://127.0.0.1:${port}/webhooks/${webhookId}/replay`, administratorKey, cursor);
  }
  await Promise.all(arrived);
  const deliveries = EVENTS * webhookIds.length;
  const seconds = (performance.now() - startedAt) / 1_000;
  const perSecond = deliveries / seconds;
  return { perSecond, cpu: ((cpuSeconds(pids) - cpuBefore) * 1e6) / deliveries };
}

/** Starts a replay. Repeats the request until the earlier replay has ended, some milliseconds after its last delivery. */
async function replay(url: string, administratorKey: string, cursor: string): Promise<void> {
  for (;;) {
    const headers = { 'X-API-Key': administratorKey, 'Content-Type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ cursor }) });
    const text = await response.text();
    if (response.status === 200) return;
    if (response.status !== 409) throw new Error(`POST ${url}: ${response.status} ${text}`);
  }
}

function finding(what: string, drains: Drain[], target: Target | undefined): Finding {
  const perSecond = spread(drains.map(one => one.perSecond));
  return {
    what,
    target: target === undefined ? 'none' : showTarget('≥', target, '/s'),
    measured: showSpread(perSecond, 0, '/s'),
    absolute: `${medianOf(drains, one => one.cpu).toFixed(0)} µs CPU of the service per delivery; ${EVENTS} events for each webhook`,
    verdict: target && atLeast(perSecond.median, target),
  };
}
