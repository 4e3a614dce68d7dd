import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ledger } from '../crash/ledger.ts';
import { assertSound, isOnShelf, retryUncertain, stockShelf } from '../crash/shelf.ts';
import { WritingClient } from '../crash/write-load.ts';
import { sized } from '../support/long.ts';
import { Random } from '../support/random.ts';
import { dataDirectory } from '../support/service-process.ts';
import { rowsIn } from '../support/test-store.ts';
import { aShop, postgresOfThisFile } from './shop-on-postgres.ts';

/** `FAULT_SEED=…` repeats the random moments of a run, but not what the machine does between them. */
const SEED = Number(process.env.FAULT_SEED ?? Date.now() | 0);

const ROUNDS = sized(1, 10);

const CLIENTS = 8;

const holder = postgresOfThisFile({ durable: true });

describe(`one of two replicas killed ${ROUNDS} times under load`, () => {
  it('loses no acknowledged write, and the other replica continues without an error', async t => {
    const databaseUrl = await holder.postgres.createDatabase();
    const directory = dataDirectory(t);
    const steady = await aShop(t, databaseUrl, { directory });
    const shelf = await stockShelf(steady.api);
    const ledger = new Ledger();
    const random = new Random(SEED);
    const read = (sql: string) => rowsIn<object>(databaseUrl, sql);
    t.diagnostic(`seed ${SEED}`);
    let retried = 0;

    for (let round = 1; round <= ROUNDS; round++) {
      const doomed = await aShop(t, databaseUrl, { directory });
      const stopping = new AbortController();
      const client = (api: typeof steady.api) => new WritingClient(api, ledger, random, shelf);
      const surviving = Promise.all(
        Array.from({ length: CLIENTS }, () => client(steady.api).writeUntil(stopping.signal)),
      );
      const disconnected = Promise.all(
        Array.from({ length: CLIENTS }, () => client(doomed.api).writeUntilDisconnected()),
      );
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
      // The other replica has returned no errors: each of its clients would have failed.
      await surviving;
      doomed.api.close();

      await ledger.check(read, isOnShelf(shelf));
      retried += await retryUncertain(steady.api, ledger, read);
      await assertSound(read, shelf);
    }
    t.diagnostic(
      `${ledger.acknowledged} acknowledged writes checked, none lost; ${retried} repeated at the other replica`,
    );
  });
});
