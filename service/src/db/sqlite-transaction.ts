import type { Clock } from '../kit/clock.ts';
import type {
  AfterCommit,
  AtEnd,
  LockedRows,
  NewEvent,
  Row,
  StoredEvent,
  Transaction,
  Value,
} from './database.ts';
import type { Insert, Update } from './insert.ts';
import { insertRows } from './insert-rows.ts';
import type { Leftovers } from './leftovers.ts';
import { NEW_EVENT_COLUMNS, NEW_EVENT_PARAMETERS, toStored, valuesOf } from './new-events.ts';
import type { Connection } from './sqlite-connection.ts';

const APPEND = `INSERT INTO events (${NEW_EVENT_COLUMNS}) VALUES (${NEW_EVENT_PARAMETERS})`;

/** The transaction that runs on the connection for writing, one at a time. A long one has leftovers. */
export class SqliteTransaction implements Transaction {
  readonly engine = 'sqlite';
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #onAppend: (id: number, values: readonly Value[]) => void;
  readonly notify: (topic: string) => void;
  readonly #leftovers: Leftovers | undefined;

  constructor(
    connection: Connection,
    clock: Clock,
    onAppend: (id: number, values: readonly Value[]) => void,
    onNotify: (topic: string) => void,
    leftovers?: Leftovers,
  ) {
    this.#connection = connection;
    this.#clock = clock;
    this.#onAppend = onAppend;
    this.notify = onNotify;
    this.#leftovers = leftovers;
  }

  async get<Row>(sql: string, values: readonly Value[] = []): Promise<Row | undefined> {
    return this.#connection.get<Row>(sql, values);
  }

  async all<Row>(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return this.#connection.all<Row>(sql, values);
  }

  async run(sql: string, values: readonly Value[] = []): Promise<number> {
    return this.#connection.run(sql, values);
  }

  async insert(row: Insert, values: readonly Value[]): Promise<number | undefined> {
    return this.#connection.insert(row, values);
  }

  heldRow(): undefined {
    return undefined;
  }

  async lockedRow(
    _rows: LockedRows,
    id: number,
    read: (ids: readonly number[]) => Promise<Row[]>,
  ): Promise<Row | undefined> {
    return (await read([id]))[0];
  }

  update({ sql }: Update, id: number, values: readonly Value[]): void {
    this.#connection.run(sql, [...values, id]);
  }

  insertLater(into: string, rows: readonly (readonly Value[])[]): void {
    insertRows(this, into, rows);
  }

  send(sql: string, values: readonly Value[]): void {
    this.#connection.run(sql, values);
  }

  /** Only one transaction runs at a time, so the work can run at once. */
  atEnd(work: AtEnd, values: readonly string[]): Promise<void> {
    return work(this, values);
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

  /** Only one transaction runs at a time, so every lock is free. */
  async lock(): Promise<void> {}

  async tryLock(): Promise<boolean> {
    return true;
  }

  async savepoint<T>(part: () => Promise<T>): Promise<T> {
    this.#connection.run('SAVEPOINT part', []);
    try {
      return await part();
    } catch (error) {
      // SQLite has ended the transaction after some failures of the store.
      if (this.#connection.raw.inTransaction) this.#connection.run('ROLLBACK TO part', []);
      throw error;
    } finally {
      if (this.#connection.raw.inTransaction) this.#connection.run('RELEASE part', []);
    }
  }

  append(event: NewEvent): void {
    this.#append(toStored(event, this.#clock.now()));
  }

  async appendNumbered(event: NewEvent): Promise<StoredEvent> {
    const stored = toStored(event, this.#clock.now());
    return { id: this.#append(stored), ...stored };
  }

  #append(stored: Omit<StoredEvent, 'id'>): number {
    const values = valuesOf(stored);
    const id = this.#connection.insertedId(APPEND, values);
    this.#onAppend(id, values);
    return id;
  }
}
