import assert from 'node:assert/strict';
import { describe, it, mock, type TestContext } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { storePath } from '../../src/db/store-directory.ts';
import { SECOND } from '../../src/kit/clock.ts';
import type { ApiResponse } from '../support/client.ts';
import { aPet } from '../support/factories.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { assertNone, valuesOf } from '../support/values.ts';

/** A service on the embedded store, and another connection to its file, like that of another process. */
async function aShop(t: TestContext): Promise<TestApp & { other: BetterSqlite3.Database }> {
  const shop = await startTestApp(t, { shared: false });
  const other = new BetterSqlite3(storePath(shop.directory));
  t.after(() => other.close());
  return Object.assign(shop, { other });
}

function assertUnavailable({ status, headers, body, text }: ApiResponse): void {
  assert.deepEqual([status, body?.code, body?.status], [503, 'service_unavailable', 503], text);
  assert.match(body.message, /nothing was changed/);
  assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
}

describe('the embedded store while another process locks it', () => {
  it('is waited for at most 250 ms, because the wait blocks every request', async t => {
    const { app } = await aShop(t);
    const sql = 'PRAGMA busy_timeout';
    assert.deepEqual(await app.db.get(sql), { timeout: 250 });
    assert.deepEqual(await app.db.write(tx => tx.get(sql)), { timeout: 250 });
  });

  it('moves its log into the database after 500 pages, so that no commit has to move a long one', async t => {
    const { app } = await aShop(t);
    assert.deepEqual(await app.db.write(tx => tx.get('PRAGMA wal_autocheckpoint')), {
      wal_autocheckpoint: 500,
    });
  });

  it('rejects writes with 503 and serves reads, and accepts writes when the lock is released', async t => {
    const { api, other } = await aShop(t);
    const pet = `/pets/${await aPet(api, { name: 'Rex' })}`;
    other.exec('BEGIN EXCLUSIVE');
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
    assert.equal((await api.get('/pets')).body.length, 1);
    assert.ok(other.inTransaction, 'the lock is still held');
    other.exec('ROLLBACK');
    assert.equal((await api.patch(pet, { name: 'Max' })).status, 200);
    assert.equal((await api.get(pet)).body.name, 'Max');
  });

  it('rejects each of the writes that wait for one commit, and runs none of them later', async t => {
    const { api, other } = await aShop(t);
    other.exec('BEGIN IMMEDIATE');
    const names = ['Cats', 'Dogs', 'Fish', 'Birds'];
    (await Promise.all(names.map(name => api.post('/categories', { name })))).forEach(assertUnavailable);
    other.exec('ROLLBACK');
    assert.equal((await api.get('/categories')).body.length, 0);
    assert.deepEqual(
      valuesOf(await Promise.all(names.map(name => api.post('/categories', { name }))), 'status'),
      [201, 201, 201, 201],
    );
  });

  it('runs a rejected write when it is sent again with its Idempotency-Key', async t => {
    const { api, other } = await aShop(t);
    const send = () => api.post('/categories', { name: 'Cats' }, { 'idempotency-key': 'once' });
    other.exec('BEGIN IMMEDIATE');
    assertUnavailable(await send());
    other.exec('ROLLBACK');
    const { status, headers } = await send();
    assert.deepEqual([status, headers['idempotency-replayed']], [201, undefined]);
  });

  it('is logged as an outage, not as a fault of the service', async t => {
    const { api, other, clock, logLines } = await aShop(t);
    other.exec('BEGIN IMMEDIATE');
    assertUnavailable(await api.post('/categories', { name: 'Cats' }));
    other.exec('ROLLBACK');
    clock.advance(SECOND);
    const [line, ...more] = logLines().filter(({ msg }) => msg === 'Database unavailable');
    assert.deepEqual([line?.reason, more.length], ['database is locked', 0]);
    assertNone(logLines(), ({ level }) => Number(level) >= 50 || level === 'error');
  });

  for (const code of ['SQLITE_BUSY', 'SQLITE_BUSY_RECOVERY', 'SQLITE_BUSY_SNAPSHOT', 'SQLITE_BUSY_TIMEOUT']) {
    it(`rejects reads that end with ${code} with 503, and serves them afterwards`, async t => {
      const { api, other } = await aShop(t);
      const pet = `/pets/${await aPet(api)}`;
      // A lock does not block readers of a write-ahead log for long: only the recovery of an interrupted one does.
      const statements = Object.getPrototypeOf(other.prepare('SELECT 1'));
      const locked = () => {
        throw new BetterSqlite3.SqliteError('database is locked', code);
      };
      const mocks = ['get', 'all'].map(method => mock.method(statements, method, locked));
      try {
        assertUnavailable(await api.get(pet));
        assertUnavailable(await api.get('/pets'));
        assertUnavailable(await api.get('/events'));
      } finally {
        for (const { mock } of mocks) mock.restore();
      }
      assert.equal((await api.get(pet)).status, 200);
    });
  }
});
