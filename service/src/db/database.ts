import type { Insert } from './insert.ts';

/** What a column can hold. Booleans are 0 and 1, instants are milliseconds since the Unix epoch. */
export type Value = string | number | null | Uint8Array;

export type Engine = 'sqlite' | 'postgres';

/** One SQL text for every engine: parameters are `?`, and each text is prepared once. */
export interface Queries {
  /** For the one place where the engines need different texts: `range-sql.ts`. */
  readonly engine: Engine;
  /** The first row, or `undefined`. Also for `INSERT … RETURNING`. */
  get<Row>(sql: string, values?: readonly Value[]): Promise<Row | undefined>;
  all<Row>(sql: string, values?: readonly Value[]): Promise<Row[]>;
  /** Runs a statement that returns no rows; answers how many it changed. */
  run(sql: string, values?: readonly Value[]): Promise<number>;
}

/** Events without a number are counted up to this many: a count of all could take long. */
export const MOST_COUNTED = 10_000;

/** The row of a query that always has one. Throws when there is none. */
export async function one<Row>(db: Queries, sql: string, values?: readonly Value[]): Promise<Row> {
  const row = await db.get<Row>(sql, values);
  if (row === undefined) throw new Error(`A query that always has a row returned none: ${sql}`);
  return row;
}

export interface Writer {
  /**
   * Runs `work` in a transaction and answers once it is durable; when `work` throws, nothing of it remains.
   * Inside `work` wait for the transaction's own queries and for nothing else: others wait for it. `work` is run again
   * from the start when another transaction was in its way, so all that it does must be done through the transaction.
   */
  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
}

/** `write` on a transaction joins it, so that an operation that owns its transaction can take part in a larger one. */
export interface Transaction extends Queries, Writer {
  /**
   * Waits until no other transaction holds one of these locks, and holds them until this one ends. Statements after it
   * see all that their earlier holders did. A lock is a name on which transactions agree; it guards nothing by itself.
   */
  lock(...names: readonly string[]): Promise<void>;
  /** Adds a row and returns its ID; `undefined` when the row that it refers to does not exist. */
  insert(row: Insert, values: readonly Value[]): Promise<number | undefined>;
  /** Takes a lock unless another transaction holds it; answers whether it did. */
  tryLock(name: string): Promise<boolean>;
  /**
   * Appends to the log of events, which will have the event if and only if the transaction is committed. It is not waited
   * for: should it fail, so does the transaction.
   */
  append(event: NewEvent): void;
  /**
   * Notifies what this process derives from the store and holds in memory, once the transaction has ended and before its
   * `write` resolves. A topic is a name on which the two sides agree.
   */
  notify(topic: string): void;
}

/** A change, as the log tells of it. Its number and time are the log's. */
export interface NewEvent {
  type: string;
  subject: string;
  /** JSON. */
  data: string;
  /** The trace of the change, as the header of W3C Trace Context; absent when it is part of none. */
  traceparent?: string;
}

/** Where transactions of this process that have ended can be listened for. */
export interface Notifier {
  /** Calls `listener` after each transaction that notified the topic; also after some that were rolled back. */
  onNotice(topic: string, listener: () => void): void;
}

export interface Database extends Queries, Writer, Notifier {
  /**
   * Has `listener` called when there may be new events in the log. It hears of those of other processes late or not at
   * all, so look there from time to time as well.
   */
  onEvents(listener: () => void): void;
  /** Resolves when every event that was committed before the call has its number in the log. */
  numberEvents(): Promise<void>;
  /** Resolves with the number of committed events that have no number yet, counted up to `MOST_COUNTED`. */
  unnumberedEvents(): Promise<number>;
  /** Makes a write that changes nothing and is as durable as any other. Rejects with DatabaseUnavailable. */
  tryWrite(): Promise<void>;
  load(): DatabaseLoad;
  /** Finishes what is queued, then closes. */
  close(): Promise<void>;
}

/** How busy a database is. */
export interface DatabaseLoad {
  /** Operations that wait for their turn. */
  queued: number;
  /** Connections to a server; `undefined` for the embedded store. */
  connections?: { open: number; idle: number; most: number };
  /** Whether the last operation could reach the store. */
  isUp: boolean;
}

/** Why a store takes no writes while it serves reads. */
const writeProblems = {
  full: 'The disk of the store is full',
  readOnly: 'The store is read-only',
  faulty: 'The disk of the store cannot be written',
};

export type WriteProblem = keyof typeof writeProblems;

const explanations = {
  away: 'The database cannot be reached or does not answer in time; nothing was changed. Try again shortly',
  busy: 'More requests wait for the database than it can serve; nothing was changed. Try again shortly',
  unknown:
    'The connection to the database broke while the change was being kept, so it may have been kept or not. Look before ' +
    'you send it again; with an Idempotency-Key it can be sent again as it is',
  full: unwritten(writeProblems.full),
  readOnly: unwritten(writeProblems.readOnly),
  faulty: unwritten(writeProblems.faulty),
};

function unwritten(problem: string): string {
  return `${problem}; nothing was changed. Reads are served; try the change again later`;
}

/** The store could not be reached or could not write. The message is for callers, and says what became of their change. */
export class DatabaseUnavailable extends Error {
  readonly what: keyof typeof explanations;

  constructor(cause: unknown, what: keyof typeof explanations = 'away') {
    super(explanations[what], { cause });
    this.name = 'DatabaseUnavailable';
    this.what = what;
  }

  /** Why the store takes no writes, in words that name no host and no file; `undefined` if it was something else. */
  get writeProblem(): string | undefined {
    const problems: Partial<Record<typeof this.what, string>> = writeProblems;
    return problems[this.what];
  }

  /** For whoever runs the service; it may name hosts, and holds no password. */
  get reason(): string {
    const { cause } = this;
    // Several addresses of one host make one error without a text of its own.
    if (cause instanceof AggregateError) return cause.errors.map(String).join('; ');
    return cause instanceof Error ? cause.message : this.message;
  }
}

/** The store cannot be opened as it is; the message says why, to whoever starts the service. */
export class UnusableStore extends Error {}

/** The store cannot be reached now; the same start may succeed later. The message says why, to the operator. */
export class StoreUnavailable extends Error {}
