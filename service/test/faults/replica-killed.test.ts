import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ledger } from '../crash/ledger.ts';
import { assertSound, isOnShelf, retryUnanswered, stockShelf } from '../crash/shelf.ts';
import { WritingClient } from '../crash/write-load.ts';
import { Random } from '../support/random.ts';
import { dataDirectory } from '../support/service-process.ts';
import { aShop, postgresOfThisFile, rowsOf } from './shop-on-postgres.ts';

/** The random moments come again with `FAULT_SEED=…`; what the machine does in between does not. */
const SEED = Number(process.env.FAULT_SEED ?? Date.now() | 0);

const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 3);

const CLIENTS = 8;

const holder = postgresOfThisFile({ durable: true });

describe(`one of two replicas killed ${ROUNDS} times under load`, () => {
  it('takes nothing that was acknowledged with it, and the other goes on without an error', async t => {
    const databaseUrl = await holder.postgres.createDatabase();
    const directory = dataDirectory(t);
    const steady = await aShop(t, databaseUrl, { directory });
    const shelf = await stockShelf(steady.api);
    const ledger = new Ledger();
    const random = new Random(SEED);
    const read = (sql: string) => rowsOf<object>(databaseUrl, sql);
    t.diagnostic(`seed ${SEED}`);
    let retried = 0;

    for (let round = 1; round <= ROUNDS; round++) {
      const doomed = await aShop(t, databaseUrl, { directory });
      const enough = new AbortController();
      const client = (api: typeof steady.api) => new WritingClient(api, ledger, random, shelf);
      const goingOn = Promise.all(
        Array.from({ length: CLIENTS }, () => client(steady.api).writeUntil(enough.signal)),
      );
      const cutOff = Promise.all(
        Array.from({ length: CLIENTS }, () => client(doomed.api).writeUntilCutOff()),
      );
      const go = async () => {
        await ledger.hasGrownBy(random.between(50, 150));
        await sleep(random.between(0, 20));
        const { code, stderr } = await doomed.service.end('SIGKILL');
        assert.equal(code, null, `the process ended by itself: ${stderr}`);
        await cutOff;
        await ledger.hasGrownBy(50);
      };
      await Promise.race([go(), goingOn]);
      enough.abort();
      // It has answered nothing but success: each of its clients would have failed.
      await goingOn;
      doomed.api.close();

      await ledger.check(read, isOnShelf(shelf));
      retried += await retryUnanswered(steady.api, ledger, read);
      await assertSound(read, shelf);
    }
    t.diagnostic(
      `${ledger.acknowledged} acknowledged writes checked, none lost; ${retried} repeated at the other replica`,
    );
  });
});
