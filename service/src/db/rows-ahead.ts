import type { LockedRows, Row } from './database.ts';

/** The number of rows that are read at a time. */
const MAX_ROWS = 100;

/** Rows that a long write has read ahead, after it has locked them: to read each by itself would take a round trip. */
export class RowsAhead {
  /** By lock. Rows that do not exist are `undefined`. */
  readonly #rows = new Map<string, Row | undefined>();
  /** How many of the locks were looked at. */
  #examined = 0;
  #changedBy: RegExp | undefined;

  /** Returns a row that was read ahead, or reads it together with rows of other locks that are held. */
  async take(
    { lock, changedBy }: LockedRows,
    id: number,
    locks: ReadonlySet<string>,
    read: (ids: readonly number[]) => Promise<Row[]>,
  ): Promise<Row | undefined> {
    const wanted = `${lock} ${id}`;
    if (!this.#rows.has(wanted)) {
      const ids = [id, ...this.#nextIds(lock, id, locks)];
      const found = new Map((await read(ids)).map(row => [row.id, row]));
      this.#changedBy = changedBy;
      for (const other of ids) this.#rows.set(`${lock} ${other}`, found.get(other));
    }
    const row = this.#rows.get(wanted);
    this.#rows.delete(wanted);
    return row;
  }

  /** Forgets the rows if a statement may change what they were read from. */
  forgetFor(sql: string): void {
    if (this.#rows.size > 0 && this.#changedBy?.test(sql)) this.#rows.clear();
  }

  /** Call it when locks were released. */
  forget(): void {
    this.#rows.clear();
  }

  #nextIds(lock: string, exceptId: number, locks: ReadonlySet<string>): number[] {
    const ids: number[] = [];
    for (const name of locks.values().drop(this.#examined)) {
      if (ids.length === MAX_ROWS - 1) break;
      this.#examined++;
      const [kind, id] = name.split(' ');
      if (kind === lock && Number(id) !== exceptId) ids.push(Number(id));
    }
    return ids;
  }
}
