import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import BetterSqlite3 from 'better-sqlite3';
import { Client } from '../support/client.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { assertInvariants } from '../support/invariants.ts';
import { Random } from '../support/random.ts';
import { dataDirectory, type ServiceProcess, serve, start } from '../support/service-process.ts';
import { Ledger } from './ledger.ts';
import { post, type Shelf, WritingClient } from './write-load.ts';

/** How often the process is killed: `CRASH_ROUNDS=200 node --test …` tries harder. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 20);

/** The random moments come again with `CRASH_SEED=…`; what the machine does in between does not. */
const SEED = Number(process.env.CRASH_SEED ?? Date.now() | 0);

const CLIENTS = 16;
const STOCK = 1_000_000;

describe(`a process killed ${ROUNDS} times under load`, () => {
  it('has every acknowledged write after its restart, and nothing by halves', async t => {
    const directory = dataDirectory(t);
    const random = new Random(SEED);
    const ledger = new Ledger();
    t.diagnostic(`seed ${SEED}`);
    let service = await serve(t, directory);
    const shelf = await withClient(service, stockShelf);
    const total = { sent: 0, done: 0, retried: 0 };

    for (let round = 1; round <= ROUNDS; round++) {
      await writeUntilKilled(service, ledger, random, shelf);
      service = await serve(t, directory);
      const db = new BetterSqlite3(join(directory, 'petstore.db'), { readonly: true });
      try {
        const onShelf = (table: string, id: number) => table === 'pets' && shelf.petIds.includes(id);
        const { sent, done } = ledger.check(db, onShelf);
        total.sent += sent;
        total.done += done;
        await assertSound(db, shelf);
        total.retried += await withClient(service, api => retryUnanswered(api, ledger, db));
      } finally {
        db.close();
      }
    }
    assert.ok(total.sent > 0, 'no kill came while a write was on its way');
    t.diagnostic(`${ledger.acknowledged} acknowledged writes checked, none lost`);
    t.diagnostic(
      `${total.sent} writes had no answer when the process was killed: ${total.done} of them had taken effect, ` +
        `${total.retried} had an Idempotency-Key and were sent again`,
    );
  });
});

describe('a process killed during its first start', () => {
  it('starts at the next attempt, with an administrator key that works', async t => {
    const random = new Random(SEED);
    for (let attempt = 0; attempt < 6; attempt++) {
      const directory = dataDirectory(t);
      const killed = start(t, ['serve'], { PORT: '0', PETSTORE_DATA: directory });
      await sleep(random.between(100, 400));
      await killed.end('SIGKILL');

      const service = await serve(t, directory);
      const { status, body } = await withClient(service, api => api.get('/keys'));
      assert.deepEqual([status, body.length], [200, 1]);
      await service.end('SIGKILL');
    }
  });
});

async function withClient<T>(service: ServiceProcess, use: (api: Client) => Promise<T>): Promise<T> {
  const api = new Client(service.url, service.adminKey);
  try {
    return await use(api);
  } finally {
    api.close();
  }
}

async function stockShelf(api: Client): Promise<Shelf> {
  const categoryId = await aCategory(api);
  const petIds = [];
  for (let i = 0; i < 3; i++) petIds.push(await aPet(api, { categoryId, stock: STOCK }));
  return { categoryId, petIds };
}

/** The kill comes some writes and some milliseconds later, so that it meets every phase of a write. */
async function writeUntilKilled(
  service: ServiceProcess,
  ledger: Ledger,
  random: Random,
  shelf: Shelf,
): Promise<void> {
  const api = new Client(service.url, service.adminKey);
  const allCutOff = Promise.all(
    Array.from({ length: CLIENTS }, () => new WritingClient(api, ledger, random, shelf).writeUntilCutOff()),
  );
  await Promise.race([ledger.hasGrownBy(random.between(1, 300)), allCutOff]);
  await sleep(random.between(0, 20));
  const { code, stderr } = await service.end('SIGKILL');
  assert.equal(code, null, `the process ended by itself: ${stderr}`);
  await allCutOff;
  api.close();
}

/** Sends the POSTs that had an Idempotency-Key and no answer again: each has had one effect then. */
async function retryUnanswered(api: Client, ledger: Ledger, db: BetterSqlite3.Database): Promise<number> {
  const countKept = db.prepare('SELECT count(*) FROM idempotency_keys WHERE idempotency_key = ?').pluck();
  const retried = ledger.creations.size;
  for (const creation of ledger.creations) {
    const made = ledger.madeBy(creation);
    assert.equal(
      countKept.get(creation.idempotencyKey),
      made ? 1 : 0,
      'an effect without its outcome, or the reverse',
    );
    const { status, headers, body, text } = await post(api, creation);
    assert.equal(status, 201, text);
    assert.equal(headers['idempotency-replayed'], made ? 'true' : undefined);
    if (made) assert.equal(body.id, made.id);
    else ledger.keep({ table: creation.table, id: body.id, row: creation.row });
    ledger.creations.delete(creation);
  }
  return retried;
}

/** The file is whole, the rules hold, and every unit that was ever on the shelf is in stock or in an order. */
async function assertSound(db: BetterSqlite3.Database, { petIds }: Shelf): Promise<void> {
  assert.deepEqual(db.pragma('integrity_check'), [{ integrity_check: 'ok' }]);
  assert.deepEqual(db.pragma('foreign_key_check'), []);
  await assertInvariants(sql => db.prepare(sql).all());
  const units = db
    .prepare(
      'SELECT quantity + (SELECT coalesce(sum(quantity), 0) FROM orders WHERE pet_id = pets.id) FROM pets WHERE id = ?',
    )
    .pluck();
  for (const petId of petIds)
    assert.equal(units.get(petId), STOCK, `units of pet ${petId} were lost or doubled`);
}
