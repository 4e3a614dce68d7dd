import { messageOf } from '../kit/thrown.ts';
import type { Insert, Update } from './insert.ts';

/** A value of a column. Booleans are 0 and 1, instants are milliseconds since the Unix epoch. */
export type Value = string | number | null | Uint8Array;

/** A row as an engine returns it, by column. */
export type Row = Readonly<Record<string, Value>>;

export type Engine = 'sqlite' | 'postgres';

/**
 * How PostgreSQL must read. With `index order` it neither sorts rows nor scans a table where an index has the order; not in a
 * transaction. With `custom` it plans for the values of each query, and does not keep a plan for all values: where a frequent value
 * and a rare one need different indexes, that one can pass a whole table.
 */
export type QueryPlan = 'index order' | 'custom';

/** Reads. Both engines take the same SQL: parameters are `?`, and each text is prepared once. */
export interface Queries {
  /** For SQL that differs between the engines, such as in `range-sql.ts`. */
  readonly engine: Engine;
  /** The first row, or `undefined`. */
  get<Row>(sql: string, values?: readonly Value[]): Promise<Row | undefined>;
  all<Row>(sql: string, values?: readonly Value[], plan?: QueryPlan): Promise<Row[]>;
}

/** Reads and writes: `get` and `all` are also for `INSERT … RETURNING`. A handler of a GET has only `Queries`. */
export interface Statements extends Queries {
  /** Runs a statement that returns no rows. Returns the number of rows that it changed. */
  run(sql: string, values?: readonly Value[]): Promise<number>;
}

/** The maximum number of events without a number that are counted: counting all of them could take long. */
export const MAX_UNNUMBERED = 10_000;

/** Returns the row of a query that always has one. Throws when the query returns no row. */
export async function one<Row>(db: Queries, sql: string, values?: readonly Value[]): Promise<Row> {
  const row = await db.get<Row>(sql, values);
  if (row === undefined) throw new Error(`A query that always has a row returned none: ${sql}`);
  return row;
}

export interface WriteOptions {
  /**
   * Whether the work takes long: it gets a commit of its own and may wait for turns of the event loop. Other writers run between two
   * such writes.
   */
  alone?: boolean | undefined;
}

export interface Writer {
  /**
   * Runs `work` in a transaction and resolves once it is durable; when `work` throws, the transaction is rolled back.
   * `work` awaits only queries of the transaction, because other writers wait for it. After a conflict with another
   * transaction `work` runs again from the start, so it must have no effects outside the transaction.
   */
  write<T>(work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T>;
}

/** Rows that a transaction locks before it reads and changes them. */
export interface LockedRows {
  /** The lock of a row is this name with its ID: `pet 42`. */
  readonly lock: string;
  /** Statements that change other rows which the rows are read from. */
  readonly changedBy: RegExp;
}

/** Work at the end of a transaction. */
export type AtEnd = (tx: Transaction, values: readonly string[]) => Promise<void>;

/** Work after a commit for rows with these IDs, which may have been undone or changed again. It must handle its failures. */
export type AfterCommit = (ids: readonly number[]) => Promise<void>;

/** `write` on a transaction joins it, so that an operation with a transaction of its own can be part of a larger one. */
export interface Transaction extends Statements, Writer {
  /**
   * Waits until no other transaction holds one of these locks, and holds them until this transaction ends. Later
   * statements see all changes of earlier holders. A lock is a name on which transactions agree; it guards nothing by
   * itself.
   */
  lock(...names: readonly string[]): Promise<void>;
  /**
   * Runs a part of the transaction, which uses the transaction itself. When the part throws, only its changes and events are undone. Only
   * one part runs at a time, and a part has no parts.
   */
  savepoint<T>(part: () => Promise<T>): Promise<T>;
  /**
   * Runs a statement whose result is not needed. The caller does not wait: when the statement fails, later statements and the commit
   * fail with its error.
   */
  send(sql: string, values: readonly Value[]): void;
  /**
   * Calls `work` with some values before this transaction is committed: on PostgreSQL once with the distinct values of all calls, those
   * of undone parts included, in one order. Rows that other transactions also insert are then locked shortly and without deadlocks.
   */
  atEnd(work: AtEnd, values: readonly string[]): Promise<void>;
  /**
   * Inserts a row and returns its ID; `undefined` when the row that it refers to does not exist. A row that can wait is held back in a
   * long write on PostgreSQL, and sent with others before the next statement that could read it.
   */
  insert(row: Insert, values: readonly Value[]): Promise<number | undefined>;
  /** Returns the columns of a row that this transaction has inserted and holds back; `undefined` for other rows. */
  heldRow(table: string, id: number): Row | undefined;
  /**
   * Resolves with a row, which `read` locks and reads. In a long write on PostgreSQL, `read` also gets the IDs of up to 99 other rows that
   * are locked already, and the next call for one of them returns its row. So each change of a row must follow its own call.
   */
  lockedRow(
    rows: LockedRows,
    id: number,
    read: (ids: readonly number[]) => Promise<Row[]>,
  ): Promise<Row | undefined>;
  /** Changes a row, also one that is held back. The caller does not wait, as with `send`. */
  update(update: Update, id: number, values: readonly Value[]): void;
  /** Inserts rows that can wait into a table with columns, such as `words (word)`. The caller does not wait, as with `send`. */
  insertLater(into: string, rows: readonly (readonly Value[])[]): void;
  /**
   * Whether this write may change as many pages of an index as `pages` returns, which is called only in a long write: after
   * a thousand pages it may not, because other writers wait for it. The caller then leaves the index as it is, and calls `afterCommit`.
   */
  hasRoomFor(pages: () => number): boolean;
  /** In a long write: calls `work` with this ID and others after the commit, and before `write` resolves. */
  afterCommit(work: AfterCommit, id: number): void;
  /** Takes a lock unless another transaction holds it. Returns whether it took the lock. */
  tryLock(name: string): Promise<boolean>;
  /**
   * Appends an event to the event log if, and only if, the transaction is committed. The caller does not wait: when the
   * append fails, the commit fails.
   */
  append(event: NewEvent): void;
  /**
   * Appends an event to the event log and resolves with its number. On PostgreSQL no other event gets a number until the
   * transaction ends: call it when little work is left, and only where the number is needed.
   */
  appendNumbered(event: NewEvent): Promise<StoredEvent>;
  /**
   * Calls this process's listeners of a topic, such as caches, after the transaction has ended and before its `write`
   * resolves. A topic is a name on which writer and listener agree.
   */
  notify(topic: string): void;
}

/** What made a change. */
export interface Cause {
  /** The API key that made the request (`keys/12`), or `system` for a change without a request. */
  actor: string;
  /** The ID of the request; absent for a change without a request. */
  requestId?: string | undefined;
  /** The trace of the change, as the header `traceparent` of W3C Trace Context; absent without a trace. */
  traceparent?: string | undefined;
  /** Why an operator made the change; absent for a request. */
  reason?: string;
  /** When the change was made, in milliseconds since the Unix epoch; absent for one that is made now, as all but those of the demo shop are. */
  time?: number;
}

/** What an event states about a change in addition to the resource after it. */
export interface ChangeDetails {
  /**
   * The values that changed, as they were before: a JSON array of `[field, value]`, or `[field]` for a field without a value. Absent when
   * the whole resource is new or gone, and when nothing changed.
   */
  oldValues?: string | undefined;
  /** The name of the thing at this time, if its data has none. */
  name?: string | undefined;
  /** The subject of another thing whose history this event is part of. */
  related?: string | undefined;
  /** Why the change was made: a word, or for a change by the service a text. */
  reason?: string | undefined;
  /** The words of the person who made the change. */
  note?: string | undefined;
}

/** A change as it is appended to the event log, which assigns its number and time. */
export interface NewEvent extends Omit<Cause, 'reason'>, ChangeDetails {
  type: string;
  subject: string;
  /** JSON. */
  data: string;
}

/** An event as the log stores it, without a source. `time` is in milliseconds since the Unix epoch, `data` is JSON. */
export interface StoredEvent {
  id: number;
  type: string;
  subject: string;
  time: number;
  data: string;
  actor: string;
  /** Null for a change without a request. */
  request_id: string | null;
  /** The trace of the change; null if there is none. */
  traceparent: string | null;
  /** As in `ChangeDetails`; null if it is absent there, and the same for the following ones. */
  old_values: string | null;
  name: string | null;
  related: string | null;
  reason: string | null;
  note: string | null;
}

/** Notifies listeners of this process's transactions. */
export interface Notifier {
  /** Calls `listener` after each transaction that notified the topic, and also after some that were rolled back. */
  onNotice(topic: string, listener: () => void): void;
}

export interface Database extends Statements, Writer, Notifier {
  /** Resolves when every event committed before the call has its number in the log. */
  numberEvents(): Promise<void>;
  /** Resolves with the number of events that have had no number for more than ten seconds, counted up to `MAX_UNNUMBERED`. */
  unnumberedEvents(): Promise<number>;
  /** Makes a durable write that changes nothing. Rejects with DatabaseUnavailable. */
  tryWrite(): Promise<void>;
  load(): DatabaseLoad;
  /** Finishes the queued operations, then closes. */
  close(): Promise<void>;
}

/** The load of a database. */
export interface DatabaseLoad {
  /** Operations that wait. */
  queued: number;
  /** Connections to the server; `undefined` for the embedded store. */
  connections?: { open: number; idle: number; most: number };
  /** Whether the last operation could reach the store. */
  isUp: boolean;
}

/** What a store reports when it changes: whether the server is reachable, and whether it confirms commits. */
export type StoreStatus = 'up' | 'unavailable' | 'unconfirmed' | 'confirmed';

/** Reasons why a store accepts no writes while it serves reads, without names of hosts or files. */
export const writeProblems = {
  full: 'The disk of the store is full',
  readOnly: 'The store is read-only',
  faulty: 'The disk of the store cannot be written',
  unconfirmed: 'Commits are not confirmed: a standby that must confirm them does not respond',
};

export type WriteProblem = keyof typeof writeProblems;

const explanations = {
  unavailable:
    'The database cannot be reached or does not respond in time; nothing was changed. Try again shortly',
  damaged: 'The database is damaged; nothing was changed. The operator has to restore a backup',
  busy: 'More requests wait for the database than it can serve; nothing was changed. Try again shortly',
  restored: 'The database was just returned to an earlier state; nothing was changed. Try again shortly',
  unknown:
    'The connection to the database broke during the commit, so the change may or may not have been stored. Check before ' +
    'you send it again; with an Idempotency-Key it is safe to send it again unchanged',
  full: unwritten(writeProblems.full),
  readOnly: unwritten(writeProblems.readOnly),
  faulty: unwritten(writeProblems.faulty),
  unconfirmed: unwritten(writeProblems.unconfirmed),
};

function unwritten(problem: string): string {
  return `${problem}; nothing was changed. Reads still work; try the change again later`;
}

/** The store could not be reached or could not write. The message is for clients and states whether the change was made. */
export class DatabaseUnavailable extends Error {
  readonly what: keyof typeof explanations;

  constructor(cause: unknown, what: keyof typeof explanations = 'unavailable') {
    super(explanations[what], { cause });
    this.name = 'DatabaseUnavailable';
    this.what = what;
  }

  /** Why the store accepts no writes; `undefined` for other problems. */
  get writeProblem(): WriteProblem | undefined {
    return this.what in writeProblems ? (this.what as WriteProblem) : undefined;
  }

  /** The cause, for the operator. It may name hosts, but contains no password. */
  get reason(): string {
    return this.cause instanceof Error ? messageOf(this.cause) : this.message;
  }
}

/** The store cannot be opened until the operator changes something. The message states the problem. */
export class UnusableStore extends Error {}

/** The store cannot be reached now; the same start may succeed later. The message states the reason, for the operator. */
export class StoreUnavailable extends Error {}
