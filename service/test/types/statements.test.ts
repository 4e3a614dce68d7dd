import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';
import BetterSqlite3 from 'better-sqlite3';
import { Client } from 'pg';
import {
  isCallExpression,
  isFunctionDeclaration,
  isIdentifier,
  isMethodDeclaration,
  isParameterDeclaration,
  isPropertyAccessExpression,
  isVariableDeclaration,
  type Node,
  NodeFlags,
  type SignatureDeclaration,
  type VariableDeclaration,
} from 'typescript/unstable/ast';
import type { Engine } from '../../src/db/database.ts';
import { migrateSqlite } from '../../src/db/migrate-sqlite.ts';
import { statementOf } from '../../src/db/postgres-statements.ts';
import { Table } from '../../src/db/table.ts';
import { openPostgresStore } from '../support/engines.ts';
import { byPlace, expectedIn, type Finding, nodesIn, Program } from '../support/program.ts';
import { valuesOf } from '../support/values.ts';

const PASSED_ON = 'none: the text is of a table or an insert';
const COMPARED = 'none: the text is compared, and not executed';

/**
 * Files with statements that depend on values of their functions: in how many texts and calls, and the tests that execute all of
 * these. Add a new one to such a test first.
 */
const executed: Record<string, readonly [statements: number, ...tests: string[]]> = {
  'service/src/access/api-keys/api-key-queries.ts': [1, 'events/history.test.ts'],
  'service/src/access/api-keys/origin-queries.ts': [2, 'access/cross-origin.test.ts'],
  'service/src/access/key-warnings/warning-queries.ts': [
    3,
    'access/expiry-warnings.test.ts',
    'access/quota-warnings.test.ts',
  ],
  'service/src/access/leaked-keys/leak-queries.ts': [1, 'access/leaked-keys.test.ts'],
  'service/src/access/rate-limits/limit-queries.ts': [7, 'races/limit-flushes.test.ts'],
  'service/src/catalog/pets/pet-queries.ts': [1, 'journeys/pets.test.ts'],
  'service/src/catalog/pets/search/count.ts': [3, 'db/search-plans.test.ts'],
  'service/src/catalog/pets/search/known-words.ts': [1, 'db/left-words.test.ts'],
  'service/src/catalog/pets/search/lists.ts': [1, 'db/search-plans.test.ts'],
  'service/src/catalog/pets/search/pet-words.ts': [2, 'db/left-words.test.ts'],
  'service/src/catalog/pets/search/search.ts': [1, 'db/search-plans.test.ts'],
  'service/src/catalog/pets/search/search-index.ts': [2, 'db/left-words.test.ts'],
  'service/src/catalog/pets/search/search-words.ts': [1, 'db/search-plans.test.ts'],
  'service/src/catalog/pets/search/slices.ts': [2, 'db/search-plans.test.ts'],
  'service/src/db/check-store.ts': [1, 'db/check-store.test.ts'],
  'service/src/db/check-postgres.ts': [2, 'process/check-history.test.ts'],
  'service/src/db/copy-figures.ts': [1, 'db/migrate-store.test.ts'],
  'service/src/db/copy-store.ts': [3, 'db/migrate-store.test.ts'],
  'service/src/db/embedded-source.ts': [1, 'db/migrate-store.test.ts'],
  'service/src/db/insert.ts': [1, 'this test, for each insert'],
  'service/src/db/insert-rows.ts': [2, 'db/held-rows.test.ts'],
  'service/src/db/indexes.ts': [2, 'none: the texts are those of the migrations'],
  'service/src/db/delete-slice.ts': [2, 'access/sweeps.test.ts'],
  'service/src/db/define-list.ts': [1, 'db/list-plans.test.ts'],
  'service/src/db/postgres-new-row-ids.ts': [1, 'db/held-rows.test.ts'],
  'service/src/db/postgres-statement-stream.ts': [1, COMPARED],
  'service/src/db/postgres-transaction.ts': [5, PASSED_ON],
  'service/src/db/range-sql.ts': [4, 'db/list-plans.test.ts'],
  'service/src/db/select-page.ts': [4, 'db/list-plans.test.ts'],
  'service/src/db/sqlite-connection.ts': [1, PASSED_ON],
  'service/src/db/sqlite-transaction.ts': [1, PASSED_ON],
  'service/src/db/table.ts': [7, 'journeys/pets.test.ts, and this test for each table'],
  'service/src/db/wrapped-store.ts': [1, 'none: the text is the name of a span'],
  'service/src/events/event-log/event-queries.ts': [5, 'db/event-plans.test.ts'],
  'service/src/events/webhooks/attempt-queries.ts': [1, 'events/webhooks-deliveries.test.ts'],
  'service/src/events/webhooks/delivery-queries.ts': [5, 'events/webhooks.test.ts'],
};

const root = join(import.meta.dirname, '../../..');
const EVALUATED = '?evaluated';

// Modules with this query evaluate expressions among their own names, and with a store. They are separate instances of the modules.
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith(EVALUATED)) return loaded;
    return {
      ...loaded,
      source: `${loaded.source}\nexport const evaluate = (text, db, tx = db) => eval(text);`,
    };
  },
});

const TEMPLATE = '`(?:[^`\\\\$]|\\\\.|\\$(?!\\{)|\\$\\{(?:[^`{}]|`[^`]*`|\\{[^}]*\\})*\\})*`';
const TEXT = `(?:${TEMPLATE}|'[^'\\n]*'|"[^"\\n]*")`;
/** A text that starts like a statement, a table or an insert, and a text with a table and its columns. */
const SOURCES = new RegExp(
  `(?=.\\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH)\\s[^…])${TEXT}(?:\\s*\\+\\s*${TEXT})*` +
    `|\\bconst (?<made>\\w+) = (?:new Table|insertInto)\\b|\\binsertLater\\((?<into>${TEXT})`,
  'g',
);

/** A text that starts like a statement in lower case, which `SOURCES` does not find. */
const LOWER_CASE = new RegExp(
  `(?=.\\s*(?:select|insert into|update\\s+\\w+\\s+set|delete from|with\\s+\\w+\\s+as)\\s)${TEXT}`,
  'g',
);

/** Whether the callers of a function are found by its name. */
const isCheckedAtCalls = (node: Node) => isFunctionDeclaration(node) || isMethodDeclaration(node);

const isConstant = (node: Node): node is VariableDeclaration =>
  isVariableDeclaration(node) && (node.parent.flags & NodeFlags.Const) !== 0;

/**
 * The texts that functions get as their parameter `sql`, whatever they start with; of a constant its value. A function or method that
 * passes on its own `sql` is left out: its callers are here.
 */
function passedTexts(): Node[] {
  const program = new Program();
  const isSql = (node: Node | undefined) =>
    node !== undefined && isParameterDeclaration(node) && node.name.getText() === 'sql';
  const calls = program.files.flatMap(file => [...nodesIn(file)]).filter(isCallExpression);
  const texts = calls.flatMap(({ expression, arguments: values }) => {
    const called = program.declarationOf(
      isPropertyAccessExpression(expression) ? expression.name : expression,
    ) as SignatureDeclaration | undefined;
    const text = values[called?.parameters?.findIndex(isSql) ?? -1];
    if (!text) return [];
    const declared = isIdentifier(text) ? program.declarationOf(text) : undefined;
    if (isSql(declared) && isCheckedAtCalls(declared!.parent)) return [];
    return [(declared && isConstant(declared) && declared.initializer) || text];
  });
  program.close();
  return texts;
}

type Sql = Readonly<Record<Engine, string>>;

/** A statement in the text of a file. It has no `sql` if it depends on values of a function, or is in lower case. */
interface Statement extends Finding {
  sql?: Sql;
  isComposed?: boolean;
}

async function statementsIn(file: string, passed: readonly Node[]): Promise<Statement[]> {
  const source = readFileSync(join(root, file), 'utf8');
  const placeOf = (index: number) => ({ file, line: source.slice(0, index).split('\n').length });
  const inLowerCase = [...source.matchAll(LOWER_CASE)].map(({ index }) => ({
    ...placeOf(index),
    message: 'Write the keywords of SQL in upper case',
  }));
  const bySource = [...source.matchAll(SOURCES)].map(({ 0: text, index, groups: { made, into } = {} }) => ({
    index,
    text: made ?? into ?? text,
    isColumns: into !== undefined,
  }));
  const byCall = passed
    .filter(node => node.getSourceFile().fileName === join(root, file))
    .map(node => ({ index: node.getStart(), text: node.getText(), isColumns: false }));
  // A text in both is the whole expression of the call.
  const found = [...new Map([...bySource, ...byCall].map(one => [one.index, one])).values()];
  if (found.length === 0) return inLowerCase;
  const { evaluate } = await import(pathToFileURL(join(root, file)) + EVALUATED);
  const statements = found.flatMap(({ index, text, isColumns }): Statement[] => {
    const place = placeOf(index);
    try {
      const js = stripTypeScriptTypes(text);
      const [sqlite, postgres] = (['sqlite', 'postgres'] as const).map(engine =>
        textsOf(evaluate(js, { engine }), isColumns, engine),
      ) as [string[], string[]];
      return sqlite.map((sql, i) => ({
        ...place,
        message: '',
        sql: { sqlite: sql, postgres: postgres[i]! },
      }));
    } catch (error) {
      const message = `${error}: list the file with the test that executes the statement`;
      return [{ ...place, message, isComposed: true }];
    }
  });
  return [...inLowerCase, ...statements];
}

function textsOf(value: string | Sql | Table<object>, isColumns: boolean, engine: Engine): string[] {
  if (value instanceof Table) {
    const { name, columns, written, parameters, assignments } = value;
    return [
      `SELECT ${columns} FROM ${name} WHERE id = ?`,
      `INSERT INTO ${name} (${written.join(', ')}) VALUES (${parameters})`,
      `UPDATE ${name} SET ${assignments} WHERE id = ?`,
    ];
  }
  if (typeof value === 'object') return [value[engine]];
  return [isColumns ? `INSERT INTO ${value} VALUES (${value.replaceAll(/[^,]+/g, '?')})` : value];
}

it('every statement of the service is accepted by SQLite and PostgreSQL, those of db/ by one of them', async t => {
  const store = new BetterSqlite3(':memory:');
  migrateSqlite(store);
  const client = new Client((await openPostgresStore(t)).url);
  await client.connect();
  const problemsOf = async ({ sqlite, postgres }: Sql): Promise<string[]> => {
    const problems: string[] = [];
    // A setting of PostgreSQL cannot be prepared, and has no effect outside a transaction.
    const isSetting = postgres.startsWith('SET LOCAL ');
    try {
      if (!isSetting) store.prepare(sqlite);
    } catch (error) {
      problems.push(`${error}: ${sqlite}`);
    }
    const prepare = `PREPARE one AS ${statementOf(postgres, []).text}; DEALLOCATE one`;
    await client.query(isSetting ? postgres : prepare).catch(error => {
      problems.push(`${error}: ${postgres}`);
    });
    return problems;
  };
  const files = globSync('service/src/**/*.ts', { cwd: root }).filter(
    // The probes of the start make the tables of their statements: db/postgres-features.test.ts runs them.
    file => !file.endsWith('.test.ts') && !file.endsWith('/postgres-features.ts'),
  );
  const passed = passedTexts();
  const found: Finding[] = [];
  const composed: Record<string, number> = {};
  let prepared = 0;
  try {
    for (const file of [...files, 'service/test/types/misused/statements.ts']) {
      for (const { sql, isComposed, ...place } of await statementsIn(file, passed)) {
        const isListed = isComposed && file in executed;
        if (isListed) composed[file] = (composed[file] ?? 0) + 1;
        const problems = sql ? await problemsOf(sql) : isListed ? [] : [place.message];
        const isOfOneEngine = file.startsWith('service/src/db/') && problems.length === 1;
        if (sql) prepared++;
        if (problems.length > 0 && !(sql && isOfOneEngine))
          found.push({ ...place, message: problems.join('\n') });
      }
    }
  } finally {
    await client.end();
    store.close();
  }
  assert.ok(prepared > 100, `only ${prepared} statements were found`);
  const listed = Object.entries(executed).map(([file, [statements]]) => [file, statements]);
  assert.deepEqual(composed, Object.fromEntries(listed));
  const { inService, inExamples } = byPlace(found);
  assert.deepEqual(inService, []);
  const expected = expectedIn('statements.ts');
  assert.deepEqual([...new Set(inExamples.map(({ line }) => line))], valuesOf(expected, 'line'));
  for (const { line, message } of expected)
    assert.match(inExamples.find(one => one.line === line)!.message, new RegExp(message));
});
