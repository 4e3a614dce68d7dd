/** What a column can hold. Booleans are 0 and 1, instants are milliseconds since the Unix epoch. */
export type Value = string | number | null | Uint8Array;

/** One SQL text for every engine: parameters are `?`, and each text is prepared once. */
export interface Queries {
  /** The first row, or `undefined`. Also for `INSERT … RETURNING`. */
  get<Row>(sql: string, values?: readonly Value[]): Promise<Row | undefined>;
  all<Row>(sql: string, values?: readonly Value[]): Promise<Row[]>;
  /** Runs a statement that returns no rows; answers how many it changed. */
  run(sql: string, values?: readonly Value[]): Promise<number>;
}

export interface Writer {
  /**
   * Runs `work` in a transaction and answers once it is durable; when `work` throws, nothing of it remains.
   * Inside `work` wait for the transaction's own queries and for nothing else: others queue behind it.
   */
  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
}

/** `write` on a transaction joins it, so that an operation that owns its transaction can take part in a larger one. */
export interface Transaction extends Queries, Writer {}

export interface Database extends Queries, Writer {
  /** Finishes what is queued, then closes. */
  close(): Promise<void>;
}

/** The store could not be reached or could not write; nothing was kept. */
export class DatabaseUnavailable extends Error {
  constructor(cause: unknown) {
    super('The database is unavailable', { cause });
    this.name = 'DatabaseUnavailable';
  }
}

/** The store cannot be opened as it is; the message says why, to whoever starts the service. */
export class UnusableStore extends Error {}
