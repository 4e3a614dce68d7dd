import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertGapless, eventsAfter } from '../support/event-log.ts';
import { type CloudEvent, EventReader } from '../support/event-reader.ts';
import { sized } from '../support/long.ts';
import { Random } from '../support/random.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { inTime, until } from '../support/until.ts';
import { EventLedger } from './event-ledger.ts';
import { kills, newStore, SEED, type Start } from './killed.ts';

const ROUNDS = kills(2, 30);

const CLIENTS = 8;

/** Replicas on one store. Each of them may be down at times. */
class Replicas {
  readonly #running: (ServiceProcess | undefined)[] = [];
  readonly #start: Start;

  constructor(start: Start) {
    this.#start = start;
  }

  async start(place: number): Promise<void> {
    this.#running[place] = await this.#start();
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
    const { api } = service;
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

/** Follows the log from its start to the event `end`. When the stream ends, it continues after the last received event. */
async function follow(replicas: Replicas, end: () => number): Promise<CloudEvent[]> {
  const random = new Random(SEED - 1);
  const events: CloudEvent[] = [];
  while (events.length < end()) {
    const service = replicas.any(random);
    const headers = { 'last-event-id': events.at(-1)?.id ?? '0' };
    try {
      if (!service) throw new Error('all replicas are down');
      const reader = await EventReader.open(service.url, service.adminKey, { headers });
      while (!reader.isOver && events.length + reader.events.length < end()) await sleep(10);
      await reader.close();
      events.push(...reader.events);
    } catch {
      await sleep(20);
    }
  }
  return events;
}

async function killUnderLoad(t: TestContext, count: number, start: Start): Promise<void> {
  const random = new Random(SEED);
  const [replicas, ledger] = [new Replicas(start), new EventLedger()];
  // The first one creates the key of the administrator.
  await replicas.start(0);
  await Promise.all(Array.from({ length: count - 1 }, (_, i) => replicas.start(i + 1)));
  const writing = new AbortController();
  const writers = Promise.all(
    Array.from({ length: CLIENTS }, (_, client) => write(replicas, ledger, client, writing.signal)),
  );
  let end = Number.POSITIVE_INFINITY;
  const following = follow(replicas, () => end);
  for (let round = 0; round < ROUNDS; round++) {
    const target = ledger.acknowledged + random.between(1, 100);
    for (let waited = 0; ledger.acknowledged < target && waited < 3_000; waited += 5) await sleep(5);
    const place = random.between(0, count - 1);
    await replicas.kill(place);
    await replicas.start(place);
  }
  await until('many changes are acknowledged', () => ledger.acknowledged > 100);
  writing.abort();
  await writers;
  const { api } = replicas.any(random)!;
  // Another replica numbers the events that a killed one has committed.
  let events: CloudEvent[] = [];
  await until('every acknowledged change has its event', async () => {
    events = await eventsAfter(api, 0);
    return ledger.isIn(events);
  });
  assertGapless(
    events.map(({ id }) => Number(id)),
    1,
  );
  ledger.check(events);
  end = events.length;
  const followed = await inTime('the reader to reach the end of the log', following);
  assert.deepEqual(followed.slice(0, end), events);
  t.diagnostic(`${ledger.acknowledged} acknowledged changes, ${end} events, ${ROUNDS} kills`);
}

describe('the log of a service that is killed again and again under load', () => {
  for (const [store, count] of [
    ['SQLite', 1],
    ['PostgreSQL', sized(2, 4)],
  ] as const) {
    it(`has every change once, and a reader misses and repeats none: ${count} on ${store}`, async t =>
      killUnderLoad(t, count, await newStore(t, store)));
  }
});
