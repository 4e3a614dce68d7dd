import type { Cause, NewEvent, Queries, StoredEvent, Transaction, WriteOptions, Writer } from './database.ts';
import { WrappedQueries, WrappedTransaction } from './wrapped-store.ts';

/** Returns a store whose events have this cause, and whose writes have these options. */
export function withCause(db: Queries & Writer, cause: Cause, options?: WriteOptions): Queries & Writer {
  return new CauseStore(db, cause, options);
}

class CauseStore extends WrappedQueries<Queries & Writer> implements Writer {
  readonly #cause: Cause;
  readonly #options: WriteOptions | undefined;

  constructor(inner: Queries & Writer, cause: Cause, options: WriteOptions | undefined) {
    super(inner);
    this.#cause = cause;
    this.#options = options;
  }

  write<T>(work: (tx: Transaction) => Promise<T>, options = this.#options): Promise<T> {
    return this.inner.write(tx => work(new CauseTransaction(tx, this.#cause)), options);
  }
}

class CauseTransaction extends WrappedTransaction {
  readonly #cause: Cause;

  constructor(inner: Transaction, cause: Cause) {
    super(inner);
    this.#cause = cause;
  }

  override append(event: NewEvent): void {
    this.inner.append({ ...event, ...this.#cause });
  }

  override appendNumbered(event: NewEvent): Promise<StoredEvent> {
    return this.inner.appendNumbered({ ...event, ...this.#cause });
  }
}
