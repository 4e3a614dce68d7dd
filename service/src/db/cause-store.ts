import type {
  Engine,
  NewEvent,
  Origin,
  Plan,
  Queries,
  StoredEvent,
  Transaction,
  Value,
  Writer,
} from './database.ts';
import type { Insert } from './insert.ts';

/** Returns a store whose events have this origin. */
export function withOrigin(db: Queries & Writer, origin: Origin): Queries & Writer {
  return new OriginStore(db, origin);
}

class OriginQueries<Inner extends Queries> implements Queries {
  protected readonly inner: Inner;
  protected readonly origin: Origin;

  constructor(inner: Inner, origin: Origin) {
    this.inner = inner;
    this.origin = origin;
  }

  get engine(): Engine {
    return this.inner.engine;
  }

  get<Row>(sql: string, values?: readonly Value[]): Promise<Row | undefined> {
    return this.inner.get(sql, values);
  }

  all<Row>(sql: string, values?: readonly Value[], plan?: Plan): Promise<Row[]> {
    return this.inner.all(sql, values, plan);
  }

  run(sql: string, values?: readonly Value[]): Promise<number> {
    return this.inner.run(sql, values);
  }
}

class OriginStore extends OriginQueries<Queries & Writer> implements Writer {
  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.inner.write(tx => work(new OriginTransaction(tx, this.origin)));
  }
}

class OriginTransaction extends OriginQueries<Transaction> implements Transaction {
  insert(row: Insert, values: readonly Value[]): Promise<number | undefined> {
    return this.inner.insert(row, values);
  }

  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return work(this);
  }

  lock(...names: readonly string[]): Promise<void> {
    return this.inner.lock(...names);
  }

  tryLock(name: string): Promise<boolean> {
    return this.inner.tryLock(name);
  }

  notify(topic: string): void {
    this.inner.notify(topic);
  }

  append(event: NewEvent): void {
    this.inner.append({ ...event, ...this.origin });
  }

  appendNumbered(event: NewEvent): Promise<StoredEvent> {
    return this.inner.appendNumbered({ ...event, ...this.origin });
  }
}
