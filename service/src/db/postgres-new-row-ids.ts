import type { QueryResult } from 'pg';
import type { Value } from './database.ts';
import type { Insert } from './insert.ts';

const RESERVE =
  "SELECT nextval(pg_get_serial_sequence(?, 'id')) AS id FROM generate_series(1, CAST(? AS INTEGER))";

/** The maximum number of IDs that are reserved at a time. */
const MAX_RESERVED = 64;

/** IDs of rows that a transaction inserts later. */
export class NewRowIds {
  readonly #send: (sql: string, values: readonly Value[]) => Promise<QueryResult>;
  /** The reserved IDs of each table, and how many were reserved at last. */
  readonly #reserved = new Map<string, { free: number[]; last: number }>();
  /** The rows that the transaction has locked, so that they cannot be deleted. */
  readonly #locked = new Set<string>();

  constructor(send: (sql: string, values: readonly Value[]) => Promise<QueryResult>) {
    this.#send = send;
  }

  /** Resolves with the ID of a new row; with `undefined` when the row that it refers to does not exist. */
  async next({ table, reference }: Insert, values: readonly Value[]): Promise<number | undefined> {
    const exists = reference === undefined || this.#lock(reference.table, values[reference.index]!);
    const [isPossible, ids] = await Promise.all([exists, this.#reserve(table)]);
    return isPossible ? ids.shift() : undefined;
  }

  /** Call when the transaction may have released locks or deleted rows. */
  forgetLocks(): void {
    this.#locked.clear();
  }

  /** Resolves with whether a row exists. It then cannot be deleted by others until the transaction ends. */
  async #lock(table: string, id: Value): Promise<boolean> {
    const name = `${table} ${id}`;
    if (this.#locked.has(name)) return true;
    const { rowCount } = await this.#send(`SELECT 1 FROM ${table} WHERE id = ? FOR KEY SHARE`, [id]);
    if (rowCount === 1) this.#locked.add(name);
    return rowCount === 1;
  }

  /** Reserves twice as many IDs as before if none is left, so that less than half of them are never used. */
  async #reserve(table: string): Promise<number[]> {
    const { free, last } = this.#reserved.get(table) ?? { free: [], last: 0.5 };
    if (free.length > 0) return free;
    const count = Math.min(last * 2, MAX_RESERVED);
    this.#reserved.set(table, { free, last: count });
    const { rows } = await this.#send(RESERVE, [table, count]);
    free.push(...rows.map(({ id }) => id));
    return free;
  }
}
