import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ledger } from '../crash/ledger.ts';
import { assertSound, isOnShelf, retryUncertain, type Shelf, stockShelf } from '../crash/shelf.ts';
import { WritingClient } from '../crash/write-load.ts';
import { isLong, sized } from '../support/long.ts';
import { Random } from '../support/random.ts';
import { dataDirectory } from '../support/service-process.ts';
import { rowsIn } from '../support/test-store.ts';
import { aShop, postgresOfThisFile, type Shop } from './shop-on-postgres.ts';

/** How often PostgreSQL is restarted in each way. */
const ROUNDS = sized(1, 10);

/** `FAULT_SEED=…` repeats the random moments of a run, but not what the machine does between them. */
const SEED = Number(process.env.FAULT_SEED ?? Date.now() | 0);

const CLIENTS = 16;

const holder = postgresOfThisFile({ durable: true });

/** Writes before, during and after an outage of PostgreSQL. */
async function writeThrough(
  shop: Shop,
  ledger: Ledger,
  shelf: Shelf,
  random: Random,
  outage: () => Promise<void>,
): Promise<void> {
  const stopping = new AbortController();
  const clients = Promise.all(
    Array.from({ length: CLIENTS }, () =>
      new WritingClient(shop.api, ledger, random, shelf).writeThroughOutagesUntil(stopping.signal),
    ),
  );
  const interrupt = async () => {
    await ledger.hasGrownBy(random.between(1, 100));
    await sleep(random.between(0, 20));
    await outage();
    // The ledger grows by that many only when the service has recovered.
    await ledger.hasGrownBy(random.between(1, 100));
  };
  await Promise.race([interrupt(), clients]);
  stopping.abort();
  await clients;
}

const outages = [
  async () => {
    await holder.postgres.shutDown();
    await holder.postgres.start();
  },
  async () => {
    await holder.postgres.kill();
    await holder.postgres.start();
  },
  ...(isLong
    ? [
        async () => {
          await holder.postgres.restart();
          await holder.postgres.restart();
        },
      ]
    : []),
];

it(`PostgreSQL shut down and killed ${ROUNDS} times under load loses no acknowledged write, applies none twice, and every 503 reports correctly whether its write was stored`, async t => {
  const shop = await aShop(t, await holder.postgres.createDatabase());
  const ledger = new Ledger();
  const random = new Random(SEED);
  const shelf = await stockShelf(shop.api);
  const read = (sql: string) => rowsIn<object>(shop.databaseUrl, sql);
  t.diagnostic(`seed ${SEED}`);
  const total = { sent: 0, done: 0 };
  for (const outage of outages) {
    for (let round = 1; round <= ROUNDS; round++) {
      await writeThrough(shop, ledger, shelf, random, outage);
      const { sent, done } = await ledger.check(read, isOnShelf(shelf));
      total.sent += sent;
      total.done += done;
      await assertSound(read, shelf);
    }
  }
  assert.equal(shop.service.child.exitCode, null);
  t.diagnostic(
    `${ledger.acknowledged} acknowledged writes checked, none lost; of ${total.sent} uncertain ones ` +
      `${total.done} had taken effect`,
  );
});

const CLIENTS_PER_REPLICA = 4;

it(`one of four replicas killed ${ROUNDS} times under load loses no acknowledged write, and the other replicas continue without an error`, async t => {
  const databaseUrl = `${await holder.postgres.createDatabase()}?connect_timeout=30`;
  const directory = dataDirectory(t);
  const start = () => aShop(t, databaseUrl, { directory, PETSTORE_DATABASE_TIMEOUT_SECONDS: '30' });
  const steady = [await start(), ...(await Promise.all([start(), start()]))] as const;
  const { api } = steady[0];
  const shelf = await stockShelf(api);
  const ledger = new Ledger();
  const random = new Random(SEED);
  const read = (sql: string) => rowsIn<object>(databaseUrl, sql);
  t.diagnostic(`seed ${SEED}`);
  let retried = 0;

  for (let round = 1; round <= ROUNDS; round++) {
    const doomed = await start();
    const stopping = new AbortController();
    const clientsOf = ({ api }: Shop) =>
      Array.from({ length: CLIENTS_PER_REPLICA }, () => new WritingClient(api, ledger, random, shelf));
    const surviving = Promise.all(
      steady.flatMap(clientsOf).map(client => client.writeUntil(stopping.signal)),
    );
    const disconnected = Promise.all(clientsOf(doomed).map(client => client.writeUntilDisconnected()));
    const killOne = async () => {
      await ledger.hasGrownBy(random.between(50, 150));
      await sleep(random.between(0, 20));
      const { code, stderr } = await doomed.service.end('SIGKILL');
      assert.equal(code, null, `the process ended by itself: ${stderr}`);
      await disconnected;
      await ledger.hasGrownBy(50);
    };
    await Promise.race([killOne(), surviving]);
    stopping.abort();
    // The other replicas have returned no errors: each of its clients would have failed.
    await surviving;
    doomed.api.close();

    await ledger.check(read, isOnShelf(shelf));
    retried += await retryUncertain(api, ledger, read);
    await assertSound(read, shelf);
  }
  t.diagnostic(
    `${ledger.acknowledged} acknowledged writes checked, none lost; ${retried} repeated at another replica`,
  );
});
