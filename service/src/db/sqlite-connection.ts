import type BetterSqlite3 from 'better-sqlite3';
import type { Value } from './database.ts';
import type { Insert } from './insert.ts';
import { attempt, isNullIn } from './sqlite-errors.ts';

/** A connection whose statements are prepared once per SQL text. */
export class Connection {
  readonly raw: BetterSqlite3.Database;
  /** How many statements have changed something. A failed statement changes nothing (https://sqlite.org/lang_conflict.html). */
  changes = 0;
  readonly #statements = new Map<string, BetterSqlite3.Statement>();

  constructor(raw: BetterSqlite3.Database) {
    this.raw = raw;
  }

  get<Row>(sql: string, values: readonly Value[]): Row | undefined {
    return attempt(() => {
      const statement = this.#prepare(sql);
      const row = statement.get(values) as Row | undefined;
      if (row !== undefined && !statement.readonly) this.changes++;
      return row;
    });
  }

  all<Row>(sql: string, values: readonly Value[]): Row[] {
    return attempt(() => {
      const statement = this.#prepare(sql);
      const rows = statement.all(values) as Row[];
      if (rows.length > 0 && !statement.readonly) this.changes++;
      return rows;
    });
  }

  run(sql: string, values: readonly Value[]): number {
    return attempt(() => this.#run(sql, values).changes);
  }

  /** Inserts a row that refers to no other, and returns its ID. */
  insertedId(sql: string, values: readonly Value[]): number {
    return attempt(() => Number(this.#run(sql, values).lastInsertRowid));
  }

  /** Returns the ID of the new row; `undefined` when the row that it refers to does not exist. */
  insert({ sqlite, reference }: Insert, values: readonly Value[]): number | undefined {
    return attempt(() => {
      try {
        return Number(this.#run(sqlite, values).lastInsertRowid);
      } catch (error) {
        if (reference && isNullIn(reference.name, error)) return undefined;
        throw error;
      }
    });
  }

  #run(sql: string, values: readonly Value[]): BetterSqlite3.RunResult {
    const result = this.#prepare(sql).run(values);
    if (result.changes > 0) this.changes++;
    return result;
  }

  #prepare(sql: string): BetterSqlite3.Statement {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.raw.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
