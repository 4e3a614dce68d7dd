import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type PostgresServer, startPair } from '../../../scripts/servers/postgres.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { DatabaseProxy } from '../support/database-proxy.ts';
import { degradedOf } from '../support/metrics.ts';
import { dataDirectory } from '../support/service-process.ts';
import { rowsIn } from '../support/test-store.ts';
import { until } from '../support/until.ts';
import { aShop, assertUnavailable, LONGEST_RESPONSE, recovery, respondedInTime } from './shop-on-postgres.ts';

/** PETSTORE_DATABASE_CONNECTIONS. */
const CONNECTIONS = 6;

/** Connections of a service in addition: for notifications. */
const LISTENERS = 1;

/** A busy server may take more than a second to read a request to cancel a commit. It would then count as unavailable. */
const PATIENT = `--import data:text/javascript,${encodeURIComponent(
  `const { setTimeout } = globalThis;
  globalThis.setTimeout = (run, delay, ...values) => setTimeout(run, delay === 1_000 ? 30_000 : delay, ...values);`,
)}`;

let primary: PostgresServer;
let standby: PostgresServer;

before(async () => {
  ({ primary, standby } = await startPair());
});
after(async () => {
  await standby?.stop();
  await primary?.stop();
});

/** The connections of the service on the server. */
async function backends(databaseUrl: string) {
  const [row] = await rowsIn<{ open: number; waiting: number }>(
    databaseUrl,
    `SELECT count(*) AS open, count(*) FILTER (WHERE wait_event = 'SyncRep') AS waiting FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'petstore'`,
  );
  return row!;
}

describe('while a synchronous standby does not confirm commits', () => {
  it('writes are rejected at once, reads are served, and no connection is left on the server', async t => {
    const databaseUrl = await primary.createDatabase();
    const { api, service } = await aShop(t, databaseUrl, {
      PETSTORE_DATABASE_CONNECTIONS: String(CONNECTIONS),
      PETSTORE_DATABASE_TIMEOUT_SECONDS: '4',
      OPS_PORT: '0',
      NODE_OPTIONS: PATIENT,
    });
    const create = (name: string) => api.post('/categories', { name });

    standby.pause();
    try {
      const sent = Array.from({ length: 20 }, (_, i) => create(`first ${i}`));
      const first = await respondedInTime(sent, 2 * LONGEST_RESPONSE);
      first.forEach(assertUnavailable);
      let [slowest, most] = [0, 0];
      for (let round = 0; round < 10; round++) {
        const sentAt = performance.now();
        const [late] = await respondedInTime([create(`round ${round}`)]);
        slowest = Math.max(slowest, performance.now() - sentAt);
        assertUnavailable(late!);
        assert.match(late!.body.message, /^Commits are not confirmed: .* nothing was changed/);
        assert.equal((await api.get('/categories')).status, 200);
        const { open } = await backends(databaseUrl);
        assert.ok(open <= CONNECTIONS + LISTENERS, `${open} connections`);
        most = Math.max(most, open);
        // A transaction of the service itself, such as that which stores counts, may have begun before the first commit was cancelled.
        await until('only the probe waits', async () => (await backends(databaseUrl)).waiting <= 1);
      }
      t.diagnostic(`writes rejected within ${Math.round(slowest)} ms, at most ${most} connections`);
      const { status, body } = await api.as().get('/readyz');
      assert.deepEqual([status, body.status], [200, 'degraded']);
      assert.match(body.message, /^Commits are not confirmed: .*: writes get 503, reads are served$/);
      assert.deepEqual(await degradedOf(service.metricsUrl), ['commits_not_confirmed']);
      // The server stores these changes before it waits for the standby, so the response must not state the contrary.
      const unknown = first.filter(({ body }) => /may or may not have been stored/.test(body.message)).length;
      const stored = await rowsIn<{ name: string }>(
        databaseUrl,
        "SELECT name FROM categories WHERE name LIKE 'first%'",
      );
      // Usually more than none: work of the service may have found the standby missing before the first of them began to commit.
      assert.ok(stored.length <= unknown, `${stored.length} of ${unknown} are stored`);
    } finally {
      standby.resume();
    }
    const recoveredAfter = await recovery(() => create('later'));
    t.diagnostic(`writes again ${Math.round(recoveredAfter)} ms after the standby`);
    const rounds = await rowsIn(databaseUrl, "SELECT name FROM categories WHERE name LIKE 'round%'");
    assert.deepEqual(rounds, [], 'a rejected request was carried out later');
    await until('the service is ready', async () => (await api.as().get('/readyz')).body.status === 'ok');
    assert.deepEqual(await degradedOf(service.metricsUrl), []);

    const { stdout } = await service.end('SIGTERM');
    assert.equal(stdout.match(/Commits are not confirmed, because/g)?.length, 1);
    assert.equal(stdout.match(/Commits are confirmed again/g)?.length, 1);
    assert.doesNotMatch(stdout, /The database cannot be reached/);
  });

  it('each of two replicas rejects writes until the standby is back: the probe of one does not wait for that of the other', async t => {
    const databaseUrl = await primary.createDatabase();
    const settings = { directory: dataDirectory(t), NODE_OPTIONS: PATIENT };
    const replicas = [await aShop(t, databaseUrl, settings), await aShop(t, databaseUrl, settings)];
    const createAtEach = () =>
      replicas.map(({ api }) => api.post('/categories', { name: crypto.randomUUID() }));
    let earlier: number[] = [];
    const probes = async () => {
      const waiting = await rowsIn<{ pid: number }>(
        databaseUrl,
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'SyncRep'",
      );
      return waiting.map(({ pid }) => pid);
    };
    standby.pause();
    try {
      (await respondedInTime(createAtEach())).forEach(assertUnavailable);
      for (const round of ['first', 'second']) {
        await until(`the ${round} probes of both wait`, async () => {
          const waiting = (await probes()).filter(pid => !earlier.includes(pid));
          if (waiting.length < 2) return false;
          earlier = waiting;
          return true;
        });
        for (const { body } of await respondedInTime(createAtEach()))
          assert.match(body.message, /^Commits are not confirmed: .* nothing was changed/);
      }
    } finally {
      standby.resume();
    }
    for (const { api, service } of replicas) {
      await recovery(() => api.post('/categories', { name: crypto.randomUUID() }));
      const { stdout } = await service.end('SIGTERM');
      assert.equal(stdout.match(/Commits are confirmed again/g)?.length, 1);
    }
  });

  it('a commit that cannot be cancelled keeps its place in the pool until the server has ended it', async t => {
    const databaseUrl = await primary.createDatabase();
    const network = await DatabaseProxy.between(t, databaseUrl);
    const settings = { PETSTORE_DATABASE_CONNECTIONS: String(CONNECTIONS), NODE_OPTIONS: PATIENT };
    const { api } = await aShop(t, network.url, settings);
    const create = () => api.post('/categories', { name: crypto.randomUUID() });
    network.dropsCancels = true;
    standby.pause();
    try {
      const first = await respondedInTime(Array.from({ length: 20 }, create));
      first.forEach(assertUnavailable);
      // The probe for confirmation has its time limit as well.
      for (let round = 0; round < 8; round++) {
        const [late] = await respondedInTime([create()]);
        assert.match(late!.body.message, /^Commits are not confirmed: .* nothing was changed/);
        const { open } = await backends(databaseUrl);
        assert.ok(open <= CONNECTIONS + LISTENERS, `${open} connections`);
        await sleep(SECOND / 2);
      }
    } finally {
      standby.resume();
    }
    await recovery(create);
    await until('the places are free', async () => (await backends(databaseUrl)).waiting === 0);
  });
});

it('a replica on a hot standby serves reads, and exits 0 after SIGTERM although its last counts cannot be stored', async t => {
  const databaseUrl = await primary.createDatabase();
  const directory = dataDirectory(t);
  const onPrimary = await aShop(t, databaseUrl, { directory });
  assert.equal((await onPrimary.api.post('/categories', { name: 'Dogs' })).status, 201);
  assert.equal((await onPrimary.service.end('SIGTERM')).code, 0);

  const url = new URL(new URL(databaseUrl).pathname, standby.url).href;
  const replayed = () => rowsIn(url, 'SELECT 1 FROM categories').catch(() => []);
  await until('the standby has the shop', async () => (await replayed()).length === 1);
  const { api, service } = await aShop(t, url, { directory });
  assert.equal((await api.get('/categories/1')).status, 200);
  assertUnavailable(await api.post('/categories', { name: 'Cats' }));
  const { code, stdout } = await service.end('SIGTERM');
  assert.equal(code, 0, stdout);
  assert.doesNotMatch(stdout, /Shutdown failed/);
  assert.match(stdout, /"msg":"Database unavailable"/);
});
