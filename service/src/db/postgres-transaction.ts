import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import type { Clock } from '../kit/clock.ts';
import {
  type AfterCommit,
  type AtEnd,
  DatabaseUnavailable,
  type LockedRows,
  type NewEvent,
  type QueryPlan,
  type Row,
  type StoredEvent,
  type Transaction,
  type Value,
} from './database.ts';
import { NeedsOwnTransaction } from './group-member.ts';
import { HeldRows } from './held-rows.ts';
import type { Insert, Update } from './insert.ts';
import { insertRows } from './insert-rows.ts';
import type { Leftovers } from './leftovers.ts';
import { toStored, valuesOf } from './new-events.ts';
import { appendOf } from './postgres-append.ts';
import { commitWithin } from './postgres-commit.ts';
import { PostgresLocks } from './postgres-locks.ts';
import { NewRowIds } from './postgres-new-row-ids.ts';
import { APPEND_NUMBERED, type EventRelay, RELAY_LOCK } from './postgres-relay.ts';
import type { Sessions } from './postgres-sessions.ts';
import { StatementStream } from './postgres-statement-stream.ts';
import { statementOf } from './postgres-statements.ts';
import { RowsAhead } from './rows-ahead.ts';

/** The number of rows that are held back at most, in addition to those of one operation: sending them blocks the event loop. */
const MAX_HELD = 1_000;

/** How long a statement of a group waits for another transaction: only for rows without a named lock, such as a new unique value. */
const GROUP_WAIT = "SET LOCAL lock_timeout = '20ms'";

const NO_GROUP_WAIT = 'SET LOCAL lock_timeout = 0';

export interface TransactionServices {
  clock: Clock;
  sessions: Sessions;
  relay: Pick<EventRelay, 'known'>;
  /** How long a commit may take, in milliseconds. */
  commitTimeout: number;
  /** Asks the server to end the statement of a connection. Resolves with whether it has read the request. */
  cancel: (client: PoolClient) => Promise<boolean>;
}

/** A long write leaves work for after its commit. The operations of a group do not wait for locks. Both hold new rows back. */
export type TransactionKind = { leftovers: Leftovers } | 'group' | undefined;

/** A part of a transaction that can be undone. */
interface Part {
  /** The name of its savepoint, which no other part has: a failed transaction must not return to a part before the failure. */
  name: string;
  /** The number of rows that are held back from before the part. */
  rowsBefore: number;
  /** The number of responses from before the part; `undefined` until its first statement is sent. */
  responsesBefore: number | undefined;
}

/** A transaction on a connection of its own, which takes only as many round trips as it awaits results. */
export class PostgresTransaction implements Transaction {
  readonly engine = 'postgres';
  readonly #client: PoolClient;
  readonly #services: TransactionServices;
  readonly #statements: StatementStream;
  /** The values of events, which the commit appends together. */
  readonly #events: ReturnType<typeof valuesOf>[] = [];
  readonly #locks = new PostgresLocks(query => this.#send(query));
  /** The values for work at the end. */
  readonly #atEnd = new Map<AtEnd, Set<string>>();
  /** The rows that are inserted later; `undefined` if the transaction inserts all rows at once. */
  readonly #rows: HeldRows | undefined;
  readonly #ahead: RowsAhead | undefined;
  readonly #leftovers: Leftovers | undefined;
  readonly #isGroup: boolean;
  readonly #ids = new NewRowIds((sql, values) => this.#statements.request(statementOf(sql, values)));
  #parts = 0;
  /** The response to COMMIT if the server was asked to cancel it. The request could still reach a later statement of the connection. */
  cancelledCommit: Promise<unknown> | undefined;
  /** The part that is running. */
  #part: Part | undefined;
  /** The topics to notify when the transaction has ended. */
  readonly topics = new Set<string>();

  /**
   * Begins the transaction, read-only if the operator has set the database to be so. Each statement sees what was committed
   * before it; operations that need more take locks.
   */
  constructor(client: PoolClient, services: TransactionServices, kind?: TransactionKind) {
    const { sessions } = services;
    this.#client = client;
    this.#services = services;
    this.#isGroup = kind === 'group';
    this.#rows = kind && new HeldRows();
    this.#ahead = kind && new RowsAhead();
    this.#leftovers = kind === 'group' ? undefined : kind?.leftovers;
    const begin = this.#isGroup ? `${sessions.begin}; ${GROUP_WAIT}` : sessions.begin;
    this.#statements = new StatementStream(client, sessions, begin, this.#ahead);
  }

  async get<Row>(sql: string, values: readonly Value[] = []): Promise<Row | undefined> {
    return (await this.#send(statementOf(sql, values))).rows[0];
  }

  async all<Row>(sql: string, values: readonly Value[] = [], plan?: QueryPlan): Promise<Row[]> {
    return (await this.#send(statementOf(sql, values, plan))).rows;
  }

  async run(sql: string, values: readonly Value[] = []): Promise<number> {
    return (await this.#send(statementOf(sql, values))).rowCount ?? 0;
  }

  send(sql: string, values: readonly Value[]): void {
    this.#sendAlong(statementOf(sql, values));
  }

  async atEnd(work: AtEnd, values: readonly string[]): Promise<void> {
    const collected = this.#atEnd.get(work) ?? new Set();
    for (const value of values) collected.add(value);
    this.#atEnd.set(work, collected);
  }

  async insert(row: Insert, values: readonly Value[]): Promise<number | undefined> {
    if (this.#rows && row.canWait) return this.#hold(this.#rows, row, values);
    const { postgres, reference } = row;
    const all = reference ? [...values, ...values.slice(reference.index, reference.index + 1)] : values;
    return (await this.get<{ id: number }>(postgres, all))?.id;
  }

  heldRow(table: string, id: number): Row | undefined {
    return this.#rows?.find(table, id);
  }

  async lockedRow(
    rows: LockedRows,
    id: number,
    read: (ids: readonly number[]) => Promise<Row[]>,
  ): Promise<Row | undefined> {
    return this.#ahead ? this.#ahead.take(rows, id, this.#locks.held, read) : (await read([id]))[0];
  }

  update(update: Update, id: number, values: readonly Value[]): void {
    if (!this.#rows) {
      this.send(update.sql, [...values, id]);
      return;
    }
    this.#ahead?.forgetFor(update.sql);
    this.#makeRoomIn(this.#rows).update(update, id, values);
  }

  insertLater(into: string, rows: readonly (readonly Value[])[]): void {
    if (this.#rows) this.#makeRoomIn(this.#rows).add(into, rows);
    else insertRows(this, into, rows);
  }

  hasRoomFor(pages: () => number): boolean {
    return this.#leftovers?.take(pages) ?? true;
  }

  afterCommit(work: AfterCommit, id: number): void {
    this.#leftovers!.add(work, id);
  }

  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return work(this);
  }

  async lock(...names: readonly string[]): Promise<void> {
    if (!this.#isGroup) return this.#locks.take(names);
    await this.#locks.takeFree(names);
    if (!this.#locks.hold(names))
      throw new NeedsOwnTransaction(`Another transaction holds ${names.join(' or ')}`);
  }

  /** Takes those of the locks that no other transaction holds. */
  tryLocks(names: readonly string[]): Promise<void> {
    return this.#locks.takeFree(names);
  }

  async tryLock(name: string): Promise<boolean> {
    await this.#locks.takeFree([name]);
    return this.#locks.hold([name]);
  }

  async savepoint<T>(part: () => Promise<T>): Promise<T> {
    if (this.#part) throw new NeedsOwnTransaction('A part of a transaction has no parts');
    const events = this.#events.length;
    const locks = this.#locks.held.size;
    const running: Part = {
      name: `part_${++this.#parts}`,
      rowsBefore: this.#rows?.length ?? 0,
      responsesBefore: undefined,
    };
    this.#part = running;
    try {
      return await part();
    } catch (error) {
      this.#rows?.undo(running.rowsBefore);
      this.#events.length = events;
      // The server releases the locks of the part.
      this.#ids.forgetLocks();
      this.#ahead?.forget();
      this.#locks.forgetAfter(locks);
      if (running.responsesBefore !== undefined) {
        // Failures of undone statements are undone as well.
        this.#statements.responses.length = running.responsesBefore;
        this.#statements.post({ text: `ROLLBACK TO ${running.name}` });
      }
      throw error;
    } finally {
      if (running.responsesBefore !== undefined) this.#statements.post({ text: `RELEASE ${running.name}` });
      this.#part = undefined;
    }
  }

  async appendNumbered(event: NewEvent): Promise<StoredEvent> {
    if (this.#isGroup) throw new NeedsOwnTransaction('Numbers of events would wait for the other operations');
    const now = this.#services.clock.now();
    const stored = toStored(event, now);
    const [, numbered] = await Promise.all([
      this.lock(RELAY_LOCK),
      this.get<{ id: number }>(APPEND_NUMBERED, [this.#services.relay.known, ...valuesOf(stored), now]),
    ]);
    // The relay is about to continue the log in a new range.
    if (!numbered) throw new DatabaseUnavailable(undefined, 'restored');
    return { id: numbered.id, ...stored };
  }

  append(event: NewEvent): void {
    this.#events.push(valuesOf(toStored(event, this.#services.clock.now())));
  }

  notify(topic: string): void {
    this.topics.add(topic);
  }

  get hasEvents(): boolean {
    return this.#events.length > 0;
  }

  /** Rejects as `commitWithin` does. The connection may still wait when this method has rejected. */
  async commit(): Promise<void> {
    if (this.#isGroup) this.#sendAlong({ text: NO_GROUP_WAIT });
    for (const [work, values] of this.#atEnd) await work(this, [...values].sort());
    this.#sendRows();
    if (this.hasEvents) this.#sendAlong(appendOf(this.#events));
    const { commitTimeout, cancel } = this.#services;
    await commitWithin(commitTimeout, this.#client, this.#statements.responses, committed => {
      this.cancelledCommit = committed;
      return cancel(this.#client);
    });
  }

  async rollback(): Promise<void> {
    await this.#client.query('ROLLBACK');
  }

  async #hold(rows: HeldRows, row: Insert, values: readonly Value[]): Promise<number | undefined> {
    this.#makeRoomIn(rows);
    if (row.after && rows.has(row.after)) this.#sendRows();
    const id = await this.#ids.next(row, values);
    if (id !== undefined) rows.insert(row, id, values);
    return id;
  }

  #makeRoomIn(rows: HeldRows): HeldRows {
    if (rows.length >= MAX_HELD) this.#sendRows();
    return rows;
  }

  /** Sends the rows that are held back, so that the next statement sees them, and begins the running part, which it belongs to. */
  #sendRows(): void {
    this.#ids.forgetLocks();
    if (this.#part && this.#part.responsesBefore === undefined) {
      this.#sendFirst(this.#part.rowsBefore);
      this.#part.rowsBefore = 0;
      this.#statements.post({ text: `SAVEPOINT ${this.#part.name}` });
      this.#part.responsesBefore = this.#statements.responses.length;
    }
    this.#sendFirst();
  }

  #sendFirst(count?: number): void {
    for (const [sql, values] of this.#rows?.take(count) ?? [])
      this.#statements.post(statementOf(sql, values));
  }

  /** Sends a statement without waiting. */
  #sendAlong(query: QueryConfig): void {
    this.#sendRows();
    this.#statements.post(query);
  }

  #send(query: QueryConfig): Promise<QueryResult> {
    this.#sendRows();
    return this.#statements.request(query);
  }
}
