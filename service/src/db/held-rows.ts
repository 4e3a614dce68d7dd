import type { Row, Value } from './database.ts';
import type { Insert, Update } from './insert.ts';
import { insertsOf } from './insert-rows.ts';

/** A row to insert, or a later state of it. */
interface Change {
  /** The table and its columns, such as `words (word)`; `undefined` for a row that is not held. */
  readonly into: string | undefined;
  readonly values: readonly Value[];
  /** The held row, if it has an ID. */
  readonly key?: string;
  readonly columns?: readonly string[];
  /** The UPDATE to this state, in case the row is sent before. */
  readonly update?: readonly [sql: string, values: readonly Value[]];
}

/**
 * The changes that a transaction holds back. New rows are inserted together, in their last state: one INSERT for each costs the server four
 * times as much. No part of the transaction begins for an update.
 */
export class HeldRows {
  /** In order, so that the last ones can be undone. */
  readonly #changes: Change[] = [];

  get length(): number {
    return this.#changes.length;
  }

  /** Adds rows without an ID. */
  add(into: string, rows: readonly (readonly Value[])[]): void {
    for (const values of rows) this.#changes.push({ into, values });
  }

  insert({ table, columns }: Insert, id: number, values: readonly Value[]): void {
    const all = ['id', ...columns];
    const into = `${table} (${all.join(', ')})`;
    this.#changes.push({ into, key: keyOf(table, id), columns: all, values: [id, ...values] });
  }

  /** Whether a new row of a table is held. */
  has(table: string): boolean {
    return this.#changes.some(({ into }) => into?.startsWith(`${table} `));
  }

  /** Returns the columns of a row, if it is held. */
  find(table: string, id: number): Row | undefined {
    const change = this.#last(table, id);
    return change && Object.fromEntries(change.columns!.map((column, i) => [column, change.values[i]!]));
  }

  /** Changes a row, whether it is held or not. */
  update({ table, columns, sql }: Update, id: number, values: readonly Value[]): void {
    const update = [sql, [...values, id]] as const;
    const change = this.#last(table, id);
    if (!change) {
      this.#changes.push({ into: undefined, values, update });
      return;
    }
    const state = [...change.values];
    for (const [i, column] of columns.entries()) state[change.columns!.indexOf(column)] = values[i]!;
    this.#changes.push({ ...change, values: state, update });
  }

  /** Forgets all changes but the first ones. */
  undo(first: number): void {
    this.#changes.length = first;
  }

  /** Returns the statements of the first changes, and forgets these changes. */
  take(first = this.#changes.length): (readonly [sql: string, values: readonly Value[]])[] {
    const rows = new Map<string, Map<unknown, readonly Value[]>>();
    const updates: NonNullable<Change['update']>[] = [];
    for (const change of this.#changes.splice(0, first)) {
      const { into, key = change, values, update } = change;
      if (into === undefined) {
        updates.push(update!);
        continue;
      }
      const inserted = rows.get(into) ?? new Map();
      rows.set(into, inserted);
      if (update && !inserted.has(key)) updates.push(update);
      else inserted.set(key, values);
    }
    const inserts = [...rows].flatMap(([into, inserted]) => insertsOf(into, [...inserted.values()]));
    return [...inserts, ...updates];
  }

  #last(table: string, id: number): Change | undefined {
    const key = keyOf(table, id);
    return this.#changes.findLast(change => change.key === key);
  }
}

function keyOf(table: string, id: number): string {
  return `${table} ${id}`;
}
