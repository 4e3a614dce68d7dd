import type {
  AfterCommit,
  AtEnd,
  Engine,
  LockedRows,
  NewEvent,
  Queries,
  QueryPlan,
  Row,
  StoredEvent,
  Transaction,
  Value,
} from './database.ts';
import type { Insert, Update } from './insert.ts';

/** Queries that pass everything to others. Subclasses change some of it, or what happens around every statement. */
export class WrappedQueries<Inner extends Queries> implements Queries {
  protected readonly inner: Inner;

  constructor(inner: Inner) {
    this.inner = inner;
  }

  get engine(): Engine {
    return this.inner.engine;
  }

  get<Row>(sql: string, values?: readonly Value[]): Promise<Row | undefined> {
    return this.awaited(() => this.inner.get(sql, values), sql);
  }

  all<Row>(sql: string, values?: readonly Value[], plan?: QueryPlan): Promise<Row[]> {
    return this.awaited(() => this.inner.all(sql, values, plan), sql);
  }

  /** Runs a statement for which the caller waits. `sql` is absent for locks, and for calls that are several statements. */
  protected awaited<T>(statement: () => Promise<T>, _sql?: string): Promise<T> {
    return statement();
  }
}

/** A transaction that passes everything to another. Subclasses change some of it. */
export class WrappedTransaction extends WrappedQueries<Transaction> implements Transaction {
  run(sql: string, values?: readonly Value[]): Promise<number> {
    return this.awaited(() => this.inner.run(sql, values), sql);
  }

  insert(row: Insert, values: readonly Value[]): Promise<number | undefined> {
    return this.awaited(() => this.inner.insert(row, values), row[this.engine]);
  }

  heldRow(table: string, id: number): Row | undefined {
    return this.inner.heldRow(table, id);
  }

  lockedRow(
    rows: LockedRows,
    id: number,
    read: (ids: readonly number[]) => Promise<Row[]>,
  ): Promise<Row | undefined> {
    return this.awaited(() => this.inner.lockedRow(rows, id, read));
  }

  update(update: Update, id: number, values: readonly Value[]): void {
    this.sent(() => this.inner.update(update, id, values), update.sql);
  }

  insertLater(into: string, rows: readonly (readonly Value[])[]): void {
    this.sent(() => this.inner.insertLater(into, rows), `INSERT INTO ${into}`);
  }

  send(sql: string, values: readonly Value[]): void {
    this.sent(() => this.inner.send(sql, values), sql);
  }

  atEnd(work: AtEnd, values: readonly string[]): Promise<void> {
    return this.awaited(() => this.inner.atEnd(work, values));
  }

  hasRoomFor(pages: () => number): boolean {
    return this.inner.hasRoomFor(pages);
  }

  afterCommit(work: AfterCommit, id: number): void {
    this.inner.afterCommit(work, id);
  }

  /** The work joins the transaction as this object, and not as the inner one. */
  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return work(this);
  }

  lock(...names: readonly string[]): Promise<void> {
    return this.awaited(() => this.inner.lock(...names));
  }

  savepoint<T>(part: () => Promise<T>): Promise<T> {
    return this.awaited(() => this.inner.savepoint(part));
  }

  tryLock(name: string): Promise<boolean> {
    return this.awaited(() => this.inner.tryLock(name));
  }

  notify(topic: string): void {
    this.inner.notify(topic);
  }

  append(event: NewEvent): void {
    this.sent(() => this.inner.append(event));
  }

  appendNumbered(event: NewEvent): Promise<StoredEvent> {
    return this.awaited(() => this.inner.appendNumbered(event));
  }

  /** Runs a statement for which the caller does not wait. `sql` is absent for events, which the commit appends. */
  protected sent(statement: () => void, _sql?: string): void {
    statement();
  }
}
