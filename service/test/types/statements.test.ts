import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { Client } from 'pg';
import type { Engine } from '../../src/db/database.ts';
import { migrateSqlite } from '../../src/db/migrate-sqlite.ts';
import { statementOf } from '../../src/db/postgres-statements.ts';
import { openPostgresStore } from '../support/engines.ts';
import { byPlace, expectedIn, type Finding, Program } from '../support/program.ts';
import { Statements } from '../support/sql-texts.ts';

/** Files that compose statements from values which the program does not state, with the tests that execute all of them. */
const executed: Record<string, string> = {
  'service/src/db/table.ts': 'this test, for each table',
  'service/src/db/insert.ts': 'this test, for each table and each insert',
  'service/src/db/insert-rows.ts': 'held-rows.test.ts',
  'service/src/db/traced-store.ts': 'none: the text is the name of a span',
  'service/src/db/list.ts': 'list-plans.test.ts',
  'service/src/db/select-page.ts': 'list-plans.test.ts',
  'service/src/db/range-sql.ts': 'list-plans.test.ts',
  'service/src/catalog/pets/search/slices.ts': 'search-plans.test.ts',
  'service/src/db/postgres-new-row-ids.ts': 'held-rows.test.ts',
  'service/src/db/embedded-source.ts': 'migrate-store.test.ts',
  'service/src/db/copy-figures.ts': 'migrate-store.test.ts',
  'service/src/db/copy-store.ts': 'migrate-store.test.ts',
};

type Prepare = (sql: string) => unknown;

describe('every statement of the service', () => {
  let program: Program;
  let all: Statements;
  before(() => {
    program = new Program();
    all = new Statements(program);
  });
  after(() => program.close());

  async function assertPrepared(engine: Engine, prepare: Prepare): Promise<void> {
    const { statements, unknown } = await all.of(engine);
    assert.ok(statements.length > 150, `only ${statements.length} statements were found`);
    const found = new Map<string, Finding>();
    for (const { sql, ...place } of statements) {
      try {
        await prepare(sql);
      } catch (error) {
        found.set(`${place.file} ${place.line}`, { ...place, message: `${error}: ${sql}` });
      }
    }
    const { inService, inExamples } = byPlace([...found.values(), ...unknown]);
    assert.deepEqual(
      inService.filter(({ file }) => !(file in executed)),
      [],
    );
    const expected = expectedIn('statements.ts');
    assert.deepEqual(
      inExamples.map(({ line }) => line),
      expected.map(({ line }) => line),
    );
    for (const [i, { message }] of expected.entries())
      assert.ok(inExamples[i]!.message.includes(message), message);
  }

  it('is accepted by SQLite', async () => {
    const store = new BetterSqlite3(':memory:');
    migrateSqlite(store);
    await assertPrepared('sqlite', sql => store.prepare(sql));
    store.close();
  });

  it('is accepted by PostgreSQL', async t => {
    const { url } = await openPostgresStore(t);
    const client = new Client(url);
    await client.connect();
    try {
      await assertPrepared('postgres', async sql => {
        await client.query(`PREPARE one AS ${statementOf(sql, []).text}`);
        await client.query('DEALLOCATE one');
      });
    } finally {
      await client.end();
    }
  });
});
