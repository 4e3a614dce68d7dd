import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { type Pgbouncer, startPgbouncer } from '../../../scripts/servers/pgbouncer.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { directSessions, pooledSessions } from '../../src/db/postgres-sessions.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { postgresOptions } from '../support/engines.ts';
import { assertGapless } from '../support/event-log.ts';
import { EventReader } from '../support/event-reader.ts';
import { aPet } from '../support/factories.ts';
import { assertInvariants } from '../support/invariants.ts';
import { replaceDelay } from '../support/replace-delay.ts';
import { tally } from '../support/replicas.ts';
import { dataDirectory, run, serve } from '../support/service-process.ts';
import { administer, emptyDatabase, rowsIn, urlOf } from '../support/test-store.ts';

/** How many server connections pgbouncer opens for all connections of a service to one database in transaction mode. */
const SHARED = 3;

const poolers: Record<'transaction' | 'session', { poolSize: number; pgbouncer?: Pgbouncer }> = {
  transaction: { poolSize: SHARED },
  session: { poolSize: 40 },
};

/** A database without tables: its URL, and the URL through pgbouncer. */
async function aDatabase(t: TestContext, mode: 'transaction' | 'session') {
  const { name, url } = await emptyDatabase();
  // pgbouncer keeps connections open after its clients have closed theirs.
  t.after(() => administer(client => client.query(`DROP DATABASE ${name} WITH (FORCE)`)));
  return { url, pooledUrl: poolers[mode].pgbouncer!.through(url) };
}

describe('pgbouncer', () => {
  before(async () => {
    for (const mode of ['transaction', 'session'] as const) {
      const { poolSize } = poolers[mode];
      poolers[mode].pgbouncer = await startPgbouncer({ serverUrl: urlOf('postgres'), mode, poolSize });
    }
  });

  after(async () => {
    for (const { pgbouncer } of Object.values(poolers)) await pgbouncer?.stop();
  });

  for (const mode of ['transaction', 'session'] as const) {
    describe(`two replicas behind pgbouncer in ${mode} mode`, () => {
      it('serve concurrent clients, sell no unit twice, and notify each other of events', async t => {
        const { url, pooledUrl } = await aDatabase(t, mode);
        const directory = dataDirectory(t);
        const replica = async () => {
          return serve(t, directory, {
            DATABASE_URL: pooledUrl,
            PETSTORE_DATABASE_CONNECTIONS: '6',
            PETSTORE_DATABASE_TIMEOUT_SECONDS: '30',
            PETSTORE_CONNECTIONS_PER_ADDRESS: '1000',
          });
        };
        const [one, other] = [await replica(), await replica()];
        const reader = await EventReader.open(other.url, other.adminKey);
        t.after(() => reader.close());
        const petId = await aPet(one.api, { stock: 20 });

        const responses = await Promise.all(
          Array.from({ length: 60 }, (_, i) => {
            const { api } = [one, other][i % 2]!;
            return Promise.all([
              api.post('/store/orders', { petId }),
              api.get(`/pets/${petId}`),
              api.get('/pets?limit=5'),
            ]);
          }),
        );
        assert.deepEqual(tally(responses.map(([order]) => order)), {
          '201': 20,
          '409 pet_not_available': 40,
        });
        assert.deepEqual(tally(responses.flatMap(([, pet, list]) => [pet, list])), { '200': 120 });
        await reader.until(
          () => reader.events.filter(({ type }) => type === 'order.placed').length === 20,
          'the orders of both replicas',
        );
        const ids = reader.events.map(({ id }) => Number(id));
        assertGapless(ids, ids[0]!);
        await assertInvariants(sql => rowsIn(url, sql));
        const { stdout } = await one.end('SIGTERM');
        assert.match(stdout, /"msg":"A pooler is in front of PostgreSQL: statements are not prepared"/);
      });

      it('apply the time limit of a statement, and leave no setting to other clients', async t => {
        const { pooledUrl } = await aDatabase(t, mode);
        // A busy server may not cancel a statement within the second after which this process gives it up.
        replaceDelay(t, 4 * SECOND, 60 * SECOND);
        const db = await openPostgres(postgresOptions(pooledUrl, { statementSeconds: 3 }));
        try {
          const failsWith = (state: string) => (error: Error) =>
            (error.cause as { code?: string }).code === state;
          const slow = 'SELECT pg_sleep(30)';
          // The server cancels it before this process gives up the connection.
          const slowQueries = [db.all(slow), db.write(tx => tx.all(slow))];
          await Promise.all(slowQueries.map(query => assert.rejects(query, failsWith('57014'))));
          const limits = `SELECT current_setting('statement_timeout') AS statement,
            current_setting('idle_in_transaction_session_timeout') AS idle`;
          for (const all of [await db.all(limits), await db.write(tx => tx.all(limits))])
            assert.deepEqual(all, [{ statement: '3s', idle: '3s' }]);
          // A read-only transaction.
          await assert.rejects(db.all('DELETE FROM pets RETURNING id'), failsWith('25006'));
          assert.equal(await db.run('DELETE FROM pets'), 0);
        } finally {
          await db.close();
        }
        const settings = await rowsIn(
          pooledUrl,
          `SELECT name FROM pg_settings WHERE source = 'session' AND name IN
           ('statement_timeout', 'idle_in_transaction_session_timeout', 'default_transaction_read_only')`,
        );
        assert.deepEqual(settings, []);
      });
    });
  }

  it('in transaction mode can be the target of a move from the embedded store', async t => {
    const directory = dataDirectory(t);
    assert.equal((await run(t, ['seed'], { PETSTORE_DATA: directory })).code, 0);
    const { url, pooledUrl } = await aDatabase(t, 'transaction');
    const moved = await run(t, ['migrate-store'], { PETSTORE_DATA: directory, DATABASE_URL: pooledUrl });
    assert.equal(moved.code, 0, moved.stderr);
    assert.deepEqual(await rowsIn(url, 'SELECT count(*)::int AS pets FROM pets'), [{ pets: 40 }]);
  });

  it('in transaction mode does not disturb a command that runs again', async t => {
    const { url, pooledUrl } = await aDatabase(t, 'transaction');
    assert.equal((await run(t, ['migrate'], { DATABASE_URL: url })).code, 0);
    for (const command of ['continue-log', 'continue-log', 'check', 'check']) {
      const { code, stderr } = await run(t, [command], { DATABASE_URL: pooledUrl });
      assert.deepEqual([code, stderr], [0, ''], command);
    }
  });
});

it('a connection prepares statements only if the server retains them', () => {
  const query = { name: 's1', text: 'SELECT $1', values: [1] };
  assert.deepEqual(directSessions(5_000).statement(query), query);
  assert.deepEqual(pooledSessions(5_000).statement(query), { text: 'SELECT $1', values: [1] });
});
