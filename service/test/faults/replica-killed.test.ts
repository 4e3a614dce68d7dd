import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ledger } from '../crash/ledger.ts';
import { assertSound, isOnShelf, retryUncertain, stockShelf } from '../crash/shelf.ts';
import { WritingClient } from '../crash/write-load.ts';
import { sized } from '../support/long.ts';
import { Random } from '../support/random.ts';
import { dataDirectory } from '../support/service-process.ts';
import { rowsIn } from '../support/test-store.ts';
import { aShop, postgresOfThisFile, type Shop } from './shop-on-postgres.ts';

/** `FAULT_SEED=…` repeats the random moments of a run, but not what the machine does between them. */
const SEED = Number(process.env.FAULT_SEED ?? Date.now() | 0);

const ROUNDS = sized(1, 10);

const CLIENTS_PER_REPLICA = 4;

const holder = postgresOfThisFile({ durable: true });

it(`one of four replicas killed ${ROUNDS} times under load loses no acknowledged write, and the other replicas continue without an error`, async t => {
  const databaseUrl = await holder.postgres.createDatabase();
  const directory = dataDirectory(t);
  const start = () => aShop(t, databaseUrl, { directory });
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
