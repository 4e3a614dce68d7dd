import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '../support/client.ts';
import { assertGapless, eventsAfter, latestCursor } from '../support/event-log.ts';
import { type CloudEvent, EventReader } from '../support/event-reader.ts';
import { Random } from '../support/random.ts';
import { dataDirectory, type ServiceProcess, serve } from '../support/service-process.ts';
import { endConnections, newDatabase } from '../support/test-store.ts';
import { EventLedger } from './event-ledger.ts';

/** How often a process is killed: `CRASH_ROUNDS=200 node --test …` kills it more often. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 5);

const SEED = Number(process.env.CRASH_SEED ?? Date.now() | 0);

const CLIENTS = 8;

/** Replicas on one store. Each of them may be down at times. */
class Replicas {
  readonly #running: (ServiceProcess | undefined)[] = [];
  readonly #start: (place: number) => Promise<ServiceProcess>;

  constructor(start: (place: number) => Promise<ServiceProcess>) {
    this.#start = start;
  }

  async start(place: number): Promise<void> {
    this.#running[place] = await this.#start(place);
  }

  async kill(place: number): Promise<void> {
    const service = this.#running[place]!;
    this.#running[place] = undefined;
    await service.end('SIGKILL');
  }

  /** A random running replica; `undefined` when none runs. */
  any(random: Random): ServiceProcess | undefined {
    const running = this.#running.filter(service => service !== undefined);
    return running.length === 0 ? undefined : random.pick(running);
  }
}

/** Creates categories and changes them until the signal. After a failure it continues with another category. */
async function write(
  replicas: Replicas,
  ledger: EventLedger,
  client: number,
  signal: AbortSignal,
): Promise<void> {
  const random = new Random(SEED + client);
  for (let category = 0; !signal.aborted; category++) {
    const service = replicas.any(random);
    if (!service) {
      await sleep(20);
      continue;
    }
    const api = new Client(service.url, service.adminKey);
    const name = `Client ${client}, category ${category}`;
    // An error of the connection leaves its change uncertain, and this client continues with another category.
    try {
      const body = { name, description: '0' };
      const { id } = (await ledger.record(name, 0, () => done(api.post('/categories', body), 201))).body;
      for (let version = 1; version < 12 && !signal.aborted; version++) {
        const change = { description: String(version) };
        await ledger.record(name, version, () => done(api.patch(`/categories/${id}`, change), 200));
      }
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
    }
    api.close();
  }
}

async function done<T extends { status: number; text: string }>(
  response: Promise<T>,
  status: number,
): Promise<T> {
  const { status: received, text } = await response;
  // The store may reject a replica briefly after another was killed. Its message states whether the change was stored.
  if (received === 503) throw new Error(text);
  assert.equal(received, status, text);
  return response;
}

/** Follows the log from its start. Whenever the stream ends, it continues after the last received event. */
async function follow(replicas: Replicas, events: CloudEvent[], signal: AbortSignal): Promise<void> {
  const random = new Random(SEED - 1);
  while (!signal.aborted) {
    const service = replicas.any(random);
    const after = events.at(-1)?.id ?? '0';
    try {
      if (!service) throw new Error('all replicas are down');
      const headers = { 'last-event-id': after };
      const reader = await EventReader.open(service.url, service.adminKey, { headers });
      while (!reader.isOver && !signal.aborted) await sleep(10);
      await reader.close();
      events.push(...reader.events);
    } catch {
      await sleep(20);
    }
  }
}

async function killUnderLoad(
  t: TestContext,
  count: number,
  rounds: number,
  start: (place: number) => Promise<ServiceProcess>,
): Promise<void> {
  t.diagnostic(`seed ${SEED}`);
  const random = new Random(SEED);
  const [replicas, ledger] = [new Replicas(start), new EventLedger()];
  for (let place = 0; place < count; place++) await replicas.start(place);
  const [writing, reading] = [new AbortController(), new AbortController()];
  const followed: CloudEvent[] = [];
  const writers = Promise.all(
    Array.from({ length: CLIENTS }, (_, client) => write(replicas, ledger, client, writing.signal)),
  );
  const follower = follow(replicas, followed, reading.signal);
  for (let round = 0; round < rounds; round++) {
    const target = ledger.acknowledged + random.between(1, 100);
    for (let waited = 0; ledger.acknowledged < target && waited < 3_000; waited += 5) await sleep(5);
    const place = random.between(0, count - 1);
    await replicas.kill(place);
    await replicas.start(place);
  }
  writing.abort();
  await writers;
  const service = replicas.any(random)!;
  const api = new Client(service.url, service.adminKey);
  // Events that a killed replica has committed are numbered within seconds.
  await sleep(count > 1 ? 2_000 : 0);
  const events = await eventsAfter(api, 0);
  assertGapless(
    events.map(({ id }) => Number(id)),
    1,
  );
  ledger.check(events);
  const end = await latestCursor(api);
  // The follower gets some time to receive the last events.
  await sleep(1_500);
  reading.abort();
  await follower;
  api.close();
  assert.equal(String(events.length), end);
  assert.deepEqual(followed, events);
  assert.ok(ledger.acknowledged > 100, `only ${ledger.acknowledged} changes`);
  t.diagnostic(`${ledger.acknowledged} acknowledged changes, ${events.length} events, ${rounds} kills`);
}

describe('the log of a service that is killed again and again under load', () => {
  it('has every acknowledged change once, and a reader that reconnects misses and repeats none', async t => {
    const directory = dataDirectory(t);
    await killUnderLoad(t, 1, ROUNDS, () => serve(t, directory));
  });

  it('does so with three replicas on PostgreSQL', async t => {
    const directory = dataDirectory(t);
    const { name, url, drop } = await newDatabase();
    const environment = { DATABASE_URL: url, PETSTORE_DATABASE_CONNECTIONS: '6' };
    const services: ServiceProcess[] = [];
    try {
      await killUnderLoad(t, 3, Math.ceil(ROUNDS / 2), async () => {
        const service = await serve(t, directory, environment);
        services.push(service);
        return service;
      });
    } finally {
      await Promise.all(services.map(service => service.end('SIGKILL')));
      await endConnections(name);
      await drop();
    }
  });
});
