import type { Engine } from './database.ts';
import { readMigrations } from './migrations.ts';

/** An index of a table, which both engines have. */
export interface Index {
  /** Absent for the index of a constraint, which the planner never confuses with another index. */
  name?: string;
  /** The columns, as PostgreSQL orders them. SQLite adds the ID to each index by itself. */
  columns: readonly string[];
  /**
   * What PostgreSQL has for each of the columns: the column, or an expression with the same order. A page that is sorted by an
   * expression that no other index has can only be read by this index.
   */
  expressions: readonly string[];
  isUnique: boolean;
  /** The condition of a partial index. */
  where?: string;
}

/** The texts that create a store, for each engine. */
type Ddl = Readonly<Record<Engine, string>>;

const ddl: Ddl = { sqlite: ddlOf('sqlite'), postgres: ddlOf('postgres') };

function ddlOf(engine: Engine): string {
  return readMigrations(engine)
    .map(({ sql }) => sql)
    .join('\n');
}

/**
 * Returns the indexes of a table that the migrations create on both engines, and that of the primary key. Throws when an index has
 * other columns, or another condition, on the other engine.
 */
export function indexesOf(table: string, { sqlite, postgres }: Ddl = ddl): Index[] {
  const others = created(sqlite, table);
  const indexes = created(postgres, table);
  for (const name of new Set([...indexes.keys(), ...others.keys()])) {
    const [index, other] = [indexes.get(name), others.get(name)].map(index => index && comparable(index));
    if (index !== other) {
      throw new Error(
        `The index ${name} of ${table} is ${index ?? 'missing'} on PostgreSQL and ${other ?? 'missing'} on SQLite`,
      );
    }
  }
  return [{ columns: ['id'], expressions: ['id'], isUnique: true }, ...indexes.values()];
}

function comparable({ columns, isUnique, where }: Index): string {
  const own = columns.at(-1) === 'id' && columns.length > 1 ? columns.slice(0, -1) : columns;
  return `${isUnique ? 'UNIQUE ' : ''}(${own.join(', ')})${where === undefined ? '' : ` WHERE ${where}`}`;
}

const STATEMENT =
  /CREATE TABLE (?<created>\w+) \((?<body>.*?)\n\)|CREATE (?<unique>UNIQUE )?INDEX (?<index>\w+)\s+ON (?<on>\w+) \((?<columns>[^;]*?)\)(?:\s+WHERE (?<where>[^;]+))?;|DROP INDEX (?:IF EXISTS )?(?<dropped>\w+)/gs;

/** An expression that keeps the order of its column. That of the ID may subtract a number. */
const SAME_ORDER = /^\((?:(id) - \d+|(\w+) (?:[+-] 0|\|\| ''))\)$/;

type Statement = Readonly<Record<string, string | undefined>>;

/** The statements of each text. All lists have those of the same texts. */
const statements = new Map<string, Statement[]>();

function statementsOf(sql: string): Statement[] {
  const known = statements.get(sql);
  if (known) return known;
  const found = [...sql.replaceAll(/--.*$/gm, '').matchAll(STATEMENT)].map(({ groups = {} }) => groups);
  statements.set(sql, found);
  return found;
}

/** Returns the indexes of a table by name; that of a unique column by its column. */
function created(sql: string, table: string): Map<string, Index> {
  const indexes = new Map<string, Index>();
  for (const statement of statementsOf(sql)) {
    const { created, body = '', unique, index, on, columns = '', where, dropped } = statement;
    if (created === table) {
      for (const [, column] of body.matchAll(/^\s*(\w+) [^\n]*\bUNIQUE\b(?! \()/gm)) {
        indexes.set(column!, { columns: [column!], expressions: [column!], isUnique: true });
      }
    }
    if (on === table) {
      const expressions = columns.split(/,\s*/).map(text => text.trim());
      indexes.set(index!, {
        name: index!,
        columns: expressions.map(text => SAME_ORDER.exec(text)?.slice(1).find(Boolean) ?? text),
        expressions,
        isUnique: unique !== undefined,
        ...(where !== undefined && { where: where.replaceAll(/\s+/g, ' ') }),
      });
    }
    if (dropped !== undefined) indexes.delete(dropped);
  }
  return indexes;
}
