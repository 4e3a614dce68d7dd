import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import BetterSqlite3 from 'better-sqlite3';
import { sized } from '../support/long.ts';
import { Random } from '../support/random.ts';
import { dataDirectory, type ServiceProcess, serve, start } from '../support/service-process.ts';
import { kills, SEED } from './killed.ts';
import { Ledger, type Read } from './ledger.ts';
import { assertSound, isOnShelf, retryUncertain, type Shelf, stockShelf } from './shelf.ts';
import { WritingClient } from './write-load.ts';

const ROUNDS = kills(3, 50);

const CLIENTS = 16;

it(`a process killed ${ROUNDS} times under load has every acknowledged write after its restart, and no partial one`, async t => {
  const directory = dataDirectory(t);
  const random = new Random(SEED);
  const ledger = new Ledger();
  t.diagnostic(`seed ${SEED}`);
  let service = await serve(t, directory);
  const shelf = await stockShelf(service.api);
  const total = { sent: 0, done: 0, retried: 0 };

  for (let round = 1; round <= ROUNDS; round++) {
    await writeUntilKilled(service, ledger, random, shelf);
    service = await serve(t, directory);
    const db = new BetterSqlite3(join(directory, 'petstore.db'), { readonly: true });
    try {
      const { sent, done } = await ledger.check(readerOf(db), isOnShelf(shelf));
      total.sent += sent;
      total.done += done;
      await assertWhole(db, shelf);
      total.retried += await retryUncertain(service.api, ledger, readerOf(db));
    } finally {
      db.close();
    }
  }
  assert.ok(total.sent > 0, 'no kill came while a write was in progress');
  t.diagnostic(`${ledger.acknowledged} acknowledged writes checked, none lost`);
  t.diagnostic(
    `${total.sent} writes had no response when the process was killed: ${total.done} of them had taken effect, ` +
      `${total.retried} had an Idempotency-Key and were sent again`,
  );
});

it('a process killed during its first start starts at the next attempt, with a valid administrator key', async t => {
  const random = new Random(SEED);
  for (let attempt = 0; attempt < sized(1, 6); attempt++) {
    const directory = dataDirectory(t);
    const killed = start(t, ['serve'], { PORT: '0', PETSTORE_DATA: directory });
    await sleep(random.between(100, 400));
    await killed.end('SIGKILL');

    const service = await serve(t, directory);
    const { status, body } = await service.api.get('/keys');
    assert.deepEqual([status, body.length], [200, 1]);
    await service.end('SIGKILL');
  }
});

/** Kills the service some writes and some milliseconds later, so that kills hit every phase of a write. */
async function writeUntilKilled(
  service: ServiceProcess,
  ledger: Ledger,
  random: Random,
  shelf: Shelf,
): Promise<void> {
  const allDisconnected = Promise.all(
    Array.from({ length: CLIENTS }, () =>
      new WritingClient(service.api, ledger, random, shelf).writeUntilDisconnected(),
    ),
  );
  await Promise.race([ledger.hasGrownBy(random.between(1, 300)), allDisconnected]);
  await sleep(random.between(0, 20));
  const { code, stderr } = await service.end('SIGKILL');
  assert.equal(code, null, `the process ended by itself: ${stderr}`);
  await allDisconnected;
}

/** Asserts that the file is undamaged, and that its contents are correct. */
async function assertWhole(db: BetterSqlite3.Database, shelf: Shelf): Promise<void> {
  assert.deepEqual(db.pragma('integrity_check'), [{ integrity_check: 'ok' }]);
  assert.deepEqual(db.pragma('foreign_key_check'), []);
  await assertSound(readerOf(db), shelf);
}

function readerOf(db: BetterSqlite3.Database): Read {
  return sql => db.prepare<[], object>(sql).all();
}
