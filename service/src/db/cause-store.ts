import type {
  AtEnd,
  Cause,
  Engine,
  NewEvent,
  Queries,
  QueryPlan,
  StoredEvent,
  Transaction,
  Value,
  WriteOptions,
  Writer,
} from './database.ts';
import type { Insert } from './insert.ts';

/** Returns a store whose events have this cause, and whose writes have these options. */
export function withCause(db: Queries & Writer, cause: Cause, options?: WriteOptions): Queries & Writer {
  return new CauseStore(db, cause, options);
}

class CauseQueries<Inner extends Queries> implements Queries {
  protected readonly inner: Inner;
  protected readonly cause: Cause;

  constructor(inner: Inner, cause: Cause) {
    this.inner = inner;
    this.cause = cause;
  }

  get engine(): Engine {
    return this.inner.engine;
  }

  get<Row>(sql: string, values?: readonly Value[]): Promise<Row | undefined> {
    return this.inner.get(sql, values);
  }

  all<Row>(sql: string, values?: readonly Value[], plan?: QueryPlan): Promise<Row[]> {
    return this.inner.all(sql, values, plan);
  }

  run(sql: string, values?: readonly Value[]): Promise<number> {
    return this.inner.run(sql, values);
  }
}

class CauseStore extends CauseQueries<Queries & Writer> implements Writer {
  readonly #options: WriteOptions | undefined;

  constructor(inner: Queries & Writer, cause: Cause, options: WriteOptions | undefined) {
    super(inner, cause);
    this.#options = options;
  }

  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.inner.write(tx => work(new CauseTransaction(tx, this.cause)), this.#options);
  }
}

class CauseTransaction extends CauseQueries<Transaction> implements Transaction {
  insert(row: Insert, values: readonly Value[]): Promise<number | undefined> {
    return this.inner.insert(row, values);
  }

  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return work(this);
  }

  send(sql: string, values: readonly Value[]): void {
    this.inner.send(sql, values);
  }

  atEnd(work: AtEnd, values: readonly string[]): Promise<void> {
    return this.inner.atEnd(work, values);
  }

  lock(...names: readonly string[]): Promise<void> {
    return this.inner.lock(...names);
  }

  savepoint<T>(part: () => Promise<T>): Promise<T> {
    return this.inner.savepoint(part);
  }

  tryLock(name: string): Promise<boolean> {
    return this.inner.tryLock(name);
  }

  notify(topic: string): void {
    this.inner.notify(topic);
  }

  append(event: NewEvent): void {
    this.inner.append({ ...event, ...this.cause });
  }

  appendNumbered(event: NewEvent): Promise<StoredEvent> {
    return this.inner.appendNumbered({ ...event, ...this.cause });
  }
}
