import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { MINUTE } from '../../src/kit/clock.ts';
import { Receiver } from '../events/receiver.ts';
import { eventsAfter } from '../support/event-log.ts';
import { Random } from '../support/random.ts';
import { clockAhead, type ServiceProcess } from '../support/service-process.ts';
import { until } from '../support/until.ts';
import { kills, newStore, SEED, type Start } from './killed.ts';

const ROUNDS = kills(2, 20);

const CATEGORIES = 6;

/** Leases, which last 60 s, have expired there. */
const LATER = clockAhead(2 * MINUTE);

/** The minimum number of changes between two kills, so that slow machines test something, too. */
const CHANGES = 10;

/** After each change, in milliseconds. */
const PAUSE = 10;

/** How long each delivery takes, in milliseconds: each category changes again meanwhile, so that some always wait. */
const DELIVERY = CATEGORIES * 2 * PAUSE;

/** Changes categories one after another. A failed change is not repeated. */
class Writer {
  changes = 0;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;

  constructor(current: () => ServiceProcess, ids: readonly number[]) {
    this.#running = this.#write(current, ids);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #write(current: () => ServiceProcess, ids: readonly number[]): Promise<void> {
    for (let i = 0; !this.#stopping.signal.aborted; i++) {
      const change = { description: String(i) };
      await current()
        .api.patch(`/categories/${ids[i % ids.length]}`, change)
        .then(
          ({ status }) => {
            if (status === 200) this.changes++;
          },
          () => sleep(20),
        );
      await sleep(PAUSE);
    }
  }
}

async function killWhileSending(t: TestContext, count: number, start: Start): Promise<void> {
  const random = new Random(SEED);
  const receiver = await Receiver.start();
  t.after(() => receiver.close());
  // Every kill happens during deliveries.
  receiver.handleWith(response => setTimeout(() => response.writeHead(204).end(), DELIVERY));
  const replicas = await Promise.all(Array.from({ length: count }, () => start()));
  const first = replicas[0]!.api;
  const { status } = await first.post('/webhooks', { url: receiver.url, types: ['category.updated'] });
  assert.equal(status, 201);
  const ids: number[] = [];
  for (let i = 0; i < CATEGORIES; i++) ids.push((await first.post('/categories', { name: `${i}` })).body.id);
  const writer = new Writer(() => random.pick(replicas), ids);
  for (let round = 1; round <= ROUNDS; round++) {
    await until('categories are changed', () => writer.changes >= round * CHANGES);
    await sleep(random.between(200, 1_000));
    const place = random.between(0, count - 1);
    await replicas[place]!.end('SIGKILL');
    replicas[place] = await start();
  }
  await writer.stop();
  // Deliveries that the killed ones had started are leased. All replicas start again after the leases have expired.
  await Promise.all(replicas.map(replica => replica.end('SIGKILL')));
  for (const place of replicas.keys()) replicas[place] = await start({ NODE_OPTIONS: LATER });

  const { api } = replicas[0]!;
  const expected = async () => (await eventsAfter(api, 0, '&type=category.updated')).map(({ id }) => id);
  const got = () => new Set(receiver.received.map(({ event }) => event.id));
  // The last events may not have their numbers yet.
  await until('every change has its event', async () => (await expected()).length >= writer.changes);
  let all: string[] = [];
  await until('every event is sent, and no others', async () => {
    all = await expected();
    return isDeepStrictEqual(got(), new Set(all));
  });
  const bySubject = Map.groupBy(receiver.received, ({ event }) => event.subject as string);
  for (const [subject, received] of bySubject) {
    const numbers = received.map(({ event }) => Number(event.id));
    // A repeated delivery precedes the next event of the subject.
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
      subject,
    );
  }
  t.diagnostic(
    `${all.length} events, ${receiver.received.length - all.length} of them sent again, ${ROUNDS} kills`,
  );
  assert.ok(all.length >= ROUNDS * CHANGES, `only ${all.length} events`);
}

describe('a service that is killed while it sends webhooks', { concurrency: true }, () => {
  for (const [store, count] of [
    ['SQLite', 1],
    ['PostgreSQL', 2],
  ] as const) {
    it(`sends every event at least once, and those of one subject in order: ${count} on ${store}`, async t =>
      killWhileSending(t, count, await newStore(t, store, { PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' })));
  }
});
