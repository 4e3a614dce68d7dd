import { type Attributes, errorTypeOf, type Span } from '../kit/tracing.ts';
import {
  DatabaseUnavailable,
  type Engine,
  type Queries,
  type Transaction,
  type WriteOptions,
  type Writer,
} from './database.ts';
import { WrappedQueries, WrappedTransaction } from './wrapped-store.ts';

/** Returns a store that records each statement, each transaction and each wait for a commit as a child of `span`. */
export function tracedStore(db: Queries & Writer, span: Span): Queries & Writer {
  return new TracedStore(db, span);
}

class TracedStore extends WrappedQueries<Queries & Writer> implements Writer {
  readonly #span: Span;

  constructor(inner: Queries & Writer, span: Span) {
    super(inner);
    this.#span = span;
  }

  write<T>(work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T> {
    const transaction = this.#span.child('transaction', 'internal', {
      'db.system.name': systemNames[this.inner.engine],
    });
    let commitWait: Span | undefined;
    const written = this.inner.write(async tx => {
      // The previous commit conflicted with another transaction, and the work runs again.
      commitWait?.end('conflict');
      commitWait = undefined;
      const value = await work(new TracedTransaction(tx, transaction));
      commitWait = transaction.child('commit wait', 'internal');
      return value;
    }, options);
    return written.then(
      value => {
        commitWait?.end();
        transaction.end();
        return value;
      },
      error => {
        // Any other error is a rejection, which rolls back the transaction and is no failure of the store.
        const errorType = error instanceof DatabaseUnavailable ? errorTypeOf(error) : undefined;
        commitWait?.end(errorType);
        transaction.set({ 'petstore.transaction.outcome': 'rolled back' });
        transaction.end(errorType);
        throw error;
      },
    );
  }

  protected override awaited<T>(statement: () => Promise<T>, sql?: string): Promise<T> {
    return recorded(this.#span, sql, this.engine, statement);
  }
}

class TracedTransaction extends WrappedTransaction {
  readonly #span: Span;

  constructor(inner: Transaction, span: Span) {
    super(inner);
    this.#span = span;
  }

  protected override awaited<T>(statement: () => Promise<T>, sql?: string): Promise<T> {
    return recorded(this.#span, sql, this.engine, statement);
  }

  /** The span ends when the statement is sent or held back. */
  protected override sent(statement: () => void, sql?: string): void {
    if (sql === undefined) {
      statement();
      return;
    }
    const { name, attributes } = describeStatement(sql, this.engine);
    const sending = this.#span.child(name, 'client', attributes);
    statement();
    sending.end();
  }

  override lock(...names: readonly string[]): Promise<void> {
    // Locks of the embedded store are always free.
    if (this.engine === 'sqlite') return super.lock(...names);
    const waiting = this.#span.child('lock', 'client', { 'db.system.name': systemNames[this.engine] });
    return ended(waiting, super.lock(...names));
  }
}

/** Runs a statement, and records it as a child of `span` if it has a text. */
function recorded<T>(
  span: Span,
  sql: string | undefined,
  engine: Engine,
  statement: () => Promise<T>,
): Promise<T> {
  if (sql === undefined) return statement();
  const { name, attributes } = describeStatement(sql, engine);
  return ended(span.child(name, 'client', attributes), statement());
}

/** Ends a span with the outcome of what it records. */
function ended<T>(span: Span, outcome: Promise<T>): Promise<T> {
  return outcome.then(
    value => {
      span.end();
      return value;
    },
    error => {
      span.end(errorTypeOf(error));
      throw error;
    },
  );
}

/** The values of `db.system.name`. */
const systemNames: Record<Engine, string> = { sqlite: 'sqlite', postgres: 'postgresql' };

interface StatementDescription {
  name: string;
  attributes: Attributes;
}

/** By SQL text; as many as there are prepared statements. */
const descriptions = new Map<string, StatementDescription>();

/** Returns the name and attributes of a statement (OpenTelemetry semantic conventions for SQL). Its text has `?` instead of values. */
function describeStatement(sql: string, engine: Engine): StatementDescription {
  let description = descriptions.get(sql);
  if (!description) {
    const operation = /^\s*(\w+)/.exec(sql)?.[1]?.toUpperCase();
    const collection = /\b(?:FROM|INTO|UPDATE)\s+([a-z_]+)/.exec(sql)?.[1];
    const name = [operation, collection].filter(word => word !== undefined).join(' ');
    description = {
      name,
      attributes: {
        'db.system.name': systemNames[engine],
        'db.operation.name': operation,
        'db.collection.name': collection,
        'db.query.summary': name,
        'db.query.text': sql,
      },
    };
    descriptions.set(sql, description);
  }
  return description;
}
