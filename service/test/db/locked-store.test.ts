import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { readConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { storePath } from '../../src/db/store-directory.ts';
import { SECOND, systemClock } from '../../src/kit/clock.ts';
import { codeOf } from '../../src/kit/thrown.ts';
import type { ApiResponse } from '../support/client.ts';
import { aPet } from '../support/factories.ts';
import { holdLocks } from '../support/hold-writes.ts';
import { dataDirectory } from '../support/service-process.ts';
import { inTime, until } from '../support/until.ts';
import { useShop } from '../support/use-shop.ts';
import { assertNone, valuesOf } from '../support/values.ts';

function assertUnavailable({ status, headers, body, text }: ApiResponse): void {
  assert.deepEqual([status, body?.code, body?.status], [503, 'service_unavailable', 503], text);
  assert.match(body.message, /nothing was changed/);
  assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
}

it('the embedded store rejects writes at once while PETSTORE_DATABASE_QUEUE others wait', async t => {
  const environment = { PETSTORE_DATA: dataDirectory(t), PETSTORE_DATABASE_QUEUE: '2' };
  const db = await openDatabase(readConfig(environment), systemClock);
  const release = await holdLocks(db, async () => {});
  const waiting = [db.write(async () => {}), db.write(async () => {})];
  await assert.rejects(
    inTime(
      'a rejection',
      db.write(async () => {}),
    ),
    /More requests wait/,
  );
  await release();
  await Promise.all(waiting);
  await db.close();
});

describe('the embedded store while another process locks it', () => {
  /** A connection to the file of the store, like that of another process. */
  let other: BetterSqlite3.Database;
  const shop = useShop({ shared: false }, async ({ directory }) => {
    other = new BetterSqlite3(storePath(directory), { timeout: 0 });
  });
  after(() => other.close());
  /**
   * Locks the store between two transactions of the service, which can hold the lock for a turn of the event loop: a wait of this
   * connection would block the process in which the service has to end its transaction.
   */
  async function lock(kind: 'IMMEDIATE' | 'EXCLUSIVE' = 'IMMEDIATE'): Promise<void> {
    await until('the service has no transaction', () => {
      try {
        other.exec(`BEGIN ${kind}`);
        return true;
      } catch (error) {
        assert.equal(codeOf(error), 'SQLITE_BUSY');
        return false;
      }
    });
  }

  it('is waited for at most 250 ms, because the wait blocks every request', async () => {
    const sql = 'PRAGMA busy_timeout';
    assert.deepEqual(await shop.app.db.get(sql), { timeout: 250 });
    assert.deepEqual(await shop.app.db.write(tx => tx.get(sql)), { timeout: 250 });
  });

  it('moves its log into the database after 500 pages, so that no commit has to move a long one', async () => {
    const pages = await shop.app.db.write(tx => tx.get('PRAGMA wal_autocheckpoint'));
    assert.deepEqual(pages, { wal_autocheckpoint: 500 });
  });

  it('rejects writes with 503 and serves reads, and accepts writes when the lock is released', async () => {
    const { api } = shop;
    const pet = `/pets/${await aPet(api, { name: 'Rex' })}`;
    await lock('EXCLUSIVE');
    const writes: [method: string, path: string, body: object | undefined][] = [
      ['POST', '/categories', { name: 'Cats' }],
      ['PATCH', pet, { name: 'Max' }],
      ['DELETE', pet, undefined],
    ];
    for (const [method, path, body] of writes) {
      const headers = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {};
      assertUnavailable(await api.send(method, path, { headers, ...(body && { body }) }));
    }
    assert.equal((await api.get(pet)).body.name, 'Rex');
    assert.equal((await api.get('/pets')).status, 200);
    assert.ok(other.inTransaction, 'the lock is still held');
    other.exec('ROLLBACK');
    assert.equal((await api.patch(pet, { name: 'Max' })).status, 200);
    assert.equal((await api.get(pet)).body.name, 'Max');
  });

  it('rejects each of the writes that wait for one commit, and runs none of them later', async () => {
    const { api } = shop;
    const before = (await api.get('/categories')).body;
    await lock();
    const names = ['Dogs', 'Fish', 'Birds', 'Mice'];
    (await Promise.all(names.map(name => api.post('/categories', { name })))).forEach(assertUnavailable);
    other.exec('ROLLBACK');
    assert.deepEqual((await api.get('/categories')).body, before);
    assert.deepEqual(
      valuesOf(await Promise.all(names.map(name => api.post('/categories', { name }))), 'status'),
      [201, 201, 201, 201],
    );
  });

  it('runs a rejected write when it is sent again with its Idempotency-Key', async () => {
    const send = () => shop.api.post('/categories', { name: 'Cats' }, { 'idempotency-key': 'once' });
    await lock();
    assertUnavailable(await send());
    other.exec('ROLLBACK');
    const { status, headers } = await send();
    assert.deepEqual([status, headers['idempotency-replayed']], [201, undefined]);
  });

  it('is logged as an outage, not as a fault of the service', async () => {
    const { api, clock, logLines } = shop;
    clock.advance(SECOND);
    const before = logLines().length;
    await lock();
    assertUnavailable(await api.post('/categories', { name: 'Rats' }));
    other.exec('ROLLBACK');
    clock.advance(SECOND);
    const lines = logLines().slice(before);
    assert.deepEqual(
      valuesOf(
        lines.filter(({ msg }) => msg === 'Database unavailable'),
        'reason',
      ),
      ['database is locked'],
    );
    assertNone(lines, ({ level }) => Number(level) >= 50 || level === 'error');
  });

  for (const code of ['SQLITE_BUSY', 'SQLITE_BUSY_RECOVERY', 'SQLITE_BUSY_SNAPSHOT', 'SQLITE_BUSY_TIMEOUT']) {
    it(`rejects reads that end with ${code} with 503, and serves them afterwards`, async t => {
      const { api } = shop;
      const pet = `/pets/${await aPet(api)}`;
      // A lock does not block readers of a write-ahead log for long: only the recovery of an interrupted one does.
      const statements = Object.getPrototypeOf(other.prepare('SELECT 1'));
      const locked = () => {
        throw new BetterSqlite3.SqliteError('database is locked', code);
      };
      for (const method of ['get', 'all']) t.mock.method(statements, method, locked);
      for (const path of [pet, '/pets', '/events']) assertUnavailable(await api.get(path));
      t.mock.restoreAll();
      assert.equal((await api.get(pet)).status, 200);
    });
  }
});
