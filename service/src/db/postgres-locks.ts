import type { QueryConfig, QueryResult } from 'pg';

/** Waits for a named lock, which ends with the transaction. Its key is the 64-bit hash of the name. */
export const LOCK = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';

/** Waits for several locks, one after another. */
const LOCK_ALL = 'SELECT pg_advisory_xact_lock(hashtextextended(name, 0)) FROM unnest($1::text[]) AS name';

/** Takes those of several locks that are free, and returns their names. */
const TRY_ALL =
  'SELECT name FROM unnest($1::text[]) AS name WHERE pg_try_advisory_xact_lock(hashtextextended(name, 0))';

/** The named locks of a transaction on PostgreSQL. */
export class PostgresLocks {
  readonly #send: (query: QueryConfig) => Promise<QueryResult>;
  /** The names of the locks that the transaction holds, in the order in which it took them. */
  readonly held = new Set<string>();

  constructor(send: (query: QueryConfig) => Promise<QueryResult>) {
    this.#send = send;
  }

  /** Waits for locks in the order of their names, so that transactions with the same locks do not deadlock. */
  async take(names: readonly string[]): Promise<void> {
    const wanted = this.#missing(names);
    const [first] = wanted;
    if (first === undefined) return;
    await this.#send(
      wanted.length === 1
        ? { name: 'lock', text: LOCK, values: [first] }
        : { name: 'lock-all', text: LOCK_ALL, values: [wanted] },
    );
    for (const name of wanted) this.held.add(name);
  }

  /** Takes those of the locks that no other transaction holds. */
  async takeFree(names: readonly string[]): Promise<void> {
    const wanted = this.#missing(names);
    if (wanted.length === 0) return;
    const { rows } = await this.#send({ name: 'try-all', text: TRY_ALL, values: [wanted] });
    for (const { name } of rows) this.held.add(name);
  }

  hold(names: readonly string[]): boolean {
    return names.every(name => this.held.has(name));
  }

  /** Forgets the locks that were taken after the first `count`: the server has released them with a part of the transaction. */
  forgetAfter(count: number): void {
    for (const name of [...this.held].slice(count)) this.held.delete(name);
  }

  #missing(names: readonly string[]): string[] {
    return names.filter(name => !this.held.has(name)).toSorted();
  }
}
