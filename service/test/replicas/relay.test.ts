import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client as Session } from 'pg';
import { assertGapless, eventsAfter, latestCursor } from '../support/event-log.ts';
import { type CloudEvent, EventReader } from '../support/event-reader.ts';
import { anOrder, aPet } from '../support/factories.ts';
import { sized } from '../support/long.ts';
import { dataDirectory, serve } from '../support/service-process.ts';
import { type Replica, startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';

interface Shop {
  replicas: Replica[];
  adminKey: string;
  url: string;
  /** A separate database session, outside of the service. */
  session: () => Promise<Session>;
}

async function startReplicas(t: TestContext, count: number): Promise<Shop> {
  const sessions: Session[] = [];
  // Runs before the database is dropped.
  t.after(async () => {
    for (const session of sessions) await session.end();
  });
  const shop = await startTestApp(t, { shared: true, alone: false });
  const replicas: Replica[] = [shop];
  while (replicas.length < count) replicas.push(await shop.replica());
  const url = shop.app.config.databaseUrl!;
  const session = async () => {
    const client = new Session(url);
    await client.connect();
    sessions.push(client);
    return client;
  };
  return { replicas, adminKey: shop.adminKey, url, session };
}

/** Appends an update of a pet, whose category has the number `order`. */
const append = (session: Session, subject: string, order = 1) =>
  session.query(
    "INSERT INTO new_events (type, subject, time, data, actor) VALUES ('pet.updated', $1, 0, $2, 'system')",
    [
      subject,
      JSON.stringify({
        id: Number(subject.split('/')[1]),
        name: 'Biscuit',
        categoryId: order,
        status: 'sold',
      }),
    ],
  );

const subjectsOf = (events: CloudEvent[]) => events.map(({ subject }) => subject);

describe('the relay', () => {
  it('gives a late commit a higher number than earlier commits, so that no reader misses it', async t => {
    const { replicas, adminKey, session } = await startReplicas(t, 1);
    const [{ api, origin }] = replicas as [Replica];
    const [late, early] = [await session(), await session()];
    await until('the first key has its event', async () => (await latestCursor(api)) === '1');
    const reader = await EventReader.open(origin, adminKey);
    await late.query('BEGIN');
    await append(late, 'pets/1');
    await early.query('BEGIN');
    await append(early, 'pets/2');
    await early.query('COMMIT');
    await reader.untilEvents(1);
    assert.deepEqual([subjectsOf(reader.events), reader.ids], [['pets/2'], [2]]);
    await late.query('COMMIT');
    await reader.untilEvents(2);
    assert.deepEqual(
      [subjectsOf(reader.events), reader.ids],
      [
        ['pets/2', 'pets/1'],
        [2, 3],
      ],
    );
    assert.deepEqual(await eventsAfter(api, 1), reader.events);
    await reader.close();
  });

  it('keeps the changes of one subject in commit order, even when the last one started first', async t => {
    const { replicas, session } = await startReplicas(t, 1);
    const [{ api }] = replicas as [Replica];
    const pet = await aPet(api);
    const [first, longRunning, last] = [await session(), await session(), await session()];
    await first.query('BEGIN; SELECT pg_current_xact_id()');
    await longRunning.query('BEGIN; SELECT pg_current_xact_id()');
    await last.query('BEGIN');
    await last.query('SELECT FROM pets WHERE id = $1 FOR UPDATE', [pet]);
    await append(last, `pets/${pet}`, 1);
    const locked = first.query('SELECT FROM pets WHERE id = $1 FOR UPDATE', [pet]);
    await last.query('COMMIT');
    await locked;
    await append(first, `pets/${pet}`, 2);
    await first.query('COMMIT');
    const updates = () => eventsAfter(api, 0, '&type=pet.updated');
    await until('both events are visible', async () => (await updates()).length === 2);
    assert.deepEqual(
      (await updates()).map(({ data }) => data.categoryId),
      [1, 2],
    );
    await longRunning.query('COMMIT');
  });

  it('appends each change once, without gaps and in order for each subject, under load on four replicas', async t => {
    const { replicas, adminKey, session } = await startReplicas(t, 4);
    const [{ api }] = replicas as [Replica];
    const pets: number[] = [];
    for (let i = 0; i < 3; i++) pets.push(await aPet(api, { stock: 1_000 }));
    const readers = await Promise.all(
      replicas.map(({ origin }) => EventReader.open(origin, adminKey, { path: '/events/stream?cursor=0' })),
    );
    const [holding, stop] = [await session(), new AbortController()];
    const delays = (async () => {
      while (!stop.signal.aborted) {
        await holding.query('BEGIN; SELECT pg_current_xact_id()');
        await sleep(300);
        await holding.query('COMMIT');
        await sleep(50);
      }
    })();
    const orders = await Promise.all(
      Array.from({ length: 8 }, async (_, client) => {
        const { api } = replicas[client % 4]!;
        const placed = [];
        for (let i = 0; i < 20; i++) {
          const order = await anOrder(api, { petId: pets[i % 3] });
          await api.patch(`/store/orders/${order}`, { petId: pets[(i + 1) % 3] });
          placed.push(order);
        }
        return placed;
      }),
    );
    stop.abort();
    await delays;
    const { db } = replicas[0]!.app;
    await until(
      'all events are numbered',
      async () => (await db.all('SELECT 1 FROM new_events')).length === 0,
    );
    const end = Number(await latestCursor(api));
    for (const reader of readers) {
      await reader.untilEvents(end);
      assertGapless(reader.ids, 1);
      assert.equal(reader.ids.length, end);
      await reader.close();
    }
    const { events } = readers[0]!;
    const placed = events.filter(({ type }) => type === 'order.placed').map(({ data }) => data.id);
    assert.deepEqual(
      placed.toSorted((a, b) => a - b),
      orders.flat().toSorted((a, b) => a - b),
    );
    assert.equal(events.filter(({ type }) => type === 'order.updated').length, placed.length);
    // Each change of stock is by one unit from the previous quantity.
    for (const pet of pets) {
      const quantities = events
        .filter(({ subject }) => subject === `store/inventory/${pet}`)
        .map(({ data }) => data.quantity as number);
      for (const [i, quantity] of quantities.slice(1).entries()) {
        if (i > 0) assert.equal(Math.abs(quantity - quantities[i]!), 1, `store/inventory/${pet} at ${i}`);
      }
      assert.equal(quantities.at(-1), (await api.get(`/store/inventory/${pet}`)).body.quantity);
    }
  });

  it('is taken over within seconds when its replica is killed right after commits', async t => {
    const { replicas, url, adminKey } = await startReplicas(t, 1);
    const [{ app, api }] = replicas as [Replica];
    const directory = dataDirectory(t);
    let left = 0;
    for (let round = 0; round < sized(1, 5); round++) {
      const environment = { DATABASE_URL: url, PETSTORE_DATABASE_CONNECTIONS: '6' };
      // The place where a service finds the administrator's key, and `serve` looks for it.
      writeFileSync(join(directory, 'admin.key'), adminKey);
      const killedReplica = await serve(t, directory, environment);
      const names = Array.from({ length: 20 }, (_, i) => `Doomed ${round}.${i}`);
      const created = await Promise.all(names.map(name => killedReplica.api.post('/categories', { name })));
      const killed = killedReplica.end('SIGKILL');
      left += (await app.db.all('SELECT 1 FROM new_events')).length;
      await killed;
      assert.ok(created.every(({ status }) => status === 201));
      const numbered = async () => {
        const events = await eventsAfter(api, 0, '&type=category.created');
        return events.filter(({ data }) => names.includes(data.name)).length;
      };
      await until(
        'the events of the replica that was killed are numbered',
        async () => (await numbered()) === names.length,
      );
    }
    t.diagnostic(`${left} events had no number when their replica was killed`);
  });
});
