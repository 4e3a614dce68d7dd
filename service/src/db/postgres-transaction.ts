import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import type { Clock } from '../kit/clock.ts';
import { type NewEvent, one, type StoredEvent, type Transaction, type Value } from './database.ts';
import type { Insert } from './insert.ts';
import { NEW_EVENT_COLUMNS, toStored, valuesOf } from './new-events.ts';
import { sendTogether } from './postgres-batching.ts';
import { awaitResponse, RolledBack, toCommitFailure } from './postgres-errors.ts';
import { APPEND_NUMBERED, RELAY_LOCK } from './postgres-relay.ts';
import type { Sessions } from './postgres-sessions.ts';
import { statementOf } from './postgres-statements.ts';

/** Waits for a named lock, which ends with the transaction. Its key is the 64-bit hash of the name. */
export const LOCK = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';

/** Waits for several locks, one after another. */
const LOCK_ALL = 'SELECT pg_advisory_xact_lock(hashtextextended(name, 0)) FROM unnest($1::text[]) AS name';

/** Inserts an event without a number: its type, subject, time and data, and the cause of the change. */
export const APPEND = `INSERT INTO new_events (${NEW_EVENT_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)`;

/** Inserts several events, in their order. Each parameter has the values of one column. */
const APPEND_ALL = `INSERT INTO new_events (${NEW_EVENT_COLUMNS}) SELECT * FROM
  unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[])`;

const TRY_LOCK = 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS taken';

/**
 * A transaction on a connection of its own. Statements are sent immediately, without waiting for the results of earlier
 * ones, so that a transaction takes only as many round trips as it awaits results.
 */
export class PostgresTransaction implements Transaction {
  readonly engine = 'postgres';
  readonly #client: PoolClient;
  readonly #clock: Clock;
  readonly #sessions: Sessions;
  readonly #begun: Promise<unknown>;
  /** The values of events, which the commit appends together. */
  readonly #events: ReturnType<typeof valuesOf>[] = [];
  /** The names of locks that this transaction holds. */
  readonly #held = new Set<string>();
  /** The topics to notify when the transaction has ended. */
  readonly topics = new Set<string>();

  /**
   * Begins the transaction, read-only if the operator has set the database to be so. Each statement sees what was committed
   * before it; operations that need more take locks.
   */
  constructor(client: PoolClient, clock: Clock, sessions: Sessions) {
    this.#client = client;
    this.#clock = clock;
    this.#sessions = sessions;
    // BEGIN is sent with the first statement, which follows in this turn.
    sendTogether(client, process.nextTick);
    this.#begun = client.query(sessions.begin);
    // The statements and the commit fail with it and report it.
    this.#begun.catch(() => {});
  }

  async get<Row>(sql: string, values: readonly Value[] = []): Promise<Row | undefined> {
    return (await this.#send(statementOf(sql, values))).rows[0];
  }

  async all<Row>(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return (await this.#send(statementOf(sql, values))).rows;
  }

  async run(sql: string, values: readonly Value[] = []): Promise<number> {
    return (await this.#send(statementOf(sql, values))).rowCount ?? 0;
  }

  async insert({ postgres, reference }: Insert, values: readonly Value[]): Promise<number | undefined> {
    const all = reference ? [...values, ...values.slice(reference.index, reference.index + 1)] : values;
    return (await this.get<{ id: number }>(postgres, all))?.id;
  }

  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return work(this);
  }

  /** Takes locks in the order of their names, so that transactions with the same locks do not deadlock. */
  async lock(...names: readonly string[]): Promise<void> {
    const wanted = names.filter(name => !this.#held.has(name)).toSorted();
    if (wanted.length === 0) return;
    const [first] = wanted;
    await this.#send(
      wanted.length === 1
        ? { name: 'lock', text: LOCK, values: [first] }
        : { name: 'lock-all', text: LOCK_ALL, values: [wanted] },
    );
    for (const name of wanted) this.#held.add(name);
  }

  async tryLock(name: string): Promise<boolean> {
    const { rows } = await this.#send({ name: 'try-lock', text: TRY_LOCK, values: [name] });
    return rows[0].taken;
  }

  async savepoint<T>(part: () => Promise<T>): Promise<T> {
    const events = this.#events.length;
    const held = this.#held.size;
    this.#sendAlong('SAVEPOINT part');
    try {
      return await part();
    } catch (error) {
      this.#sendAlong('ROLLBACK TO part');
      this.#events.length = events;
      // The server releases the locks of the part.
      for (const name of [...this.#held].slice(held)) this.#held.delete(name);
      throw error;
    } finally {
      this.#sendAlong('RELEASE part');
    }
  }

  async appendNumbered(event: NewEvent): Promise<StoredEvent> {
    const stored = toStored(event, this.#clock.now());
    const [, { id }] = await Promise.all([
      this.lock(RELAY_LOCK),
      one<{ id: number }>(this, APPEND_NUMBERED, valuesOf(stored)),
    ]);
    return { id, ...stored };
  }

  append(event: NewEvent): void {
    this.#events.push(valuesOf(toStored(event, this.#clock.now())));
  }

  notify(topic: string): void {
    this.topics.add(topic);
  }

  get hasEvents(): boolean {
    return this.#events.length > 0;
  }

  /** Rejects with DatabaseUnavailable `unknown` when the connection breaks before the server responds. */
  async commit(): Promise<void> {
    try {
      sendTogether(this.#client, process.nextTick);
      const appended = this.hasEvents ? this.#appendAll() : undefined;
      const committed = this.#client.query('COMMIT');
      const [{ command }] = await Promise.all([committed, this.#begun, appended]);
      if (command === 'COMMIT') return;
      throw new RolledBack(`The transaction ended with ${command}: a failure in it was ignored`);
    } catch (error) {
      throw toCommitFailure(error);
    }
  }

  async rollback(): Promise<void> {
    await this.#client.query('ROLLBACK');
  }

  #appendAll(): Promise<QueryResult> {
    const [first] = this.#events;
    const append =
      this.#events.length === 1
        ? { name: 'append', text: APPEND, values: first! }
        : { name: 'append-all', text: APPEND_ALL, values: columnsOf(this.#events) };
    return this.#client.query(this.#sessions.statement(append));
  }

  /** Sends a statement without waiting. When it fails, later statements and the commit fail with it. */
  #sendAlong(text: string): void {
    this.#send({ text }).catch(() => {});
  }

  #send(query: QueryConfig): Promise<QueryResult> {
    sendTogether(this.#client, process.nextTick);
    return awaitResponse(this.#client.query(this.#sessions.statement(query)));
  }
}

/** Returns the values of each column of rows. */
function columnsOf(rows: readonly (readonly unknown[])[]): unknown[][] {
  return rows[0]!.map((_, column) => rows.map(row => row[column]));
}
