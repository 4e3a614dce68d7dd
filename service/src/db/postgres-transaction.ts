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

/** Inserts an event without a number: its type, subject, time and data, and the cause of the change. */
export const APPEND = `INSERT INTO new_events (${NEW_EVENT_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)`;

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
  /** The appends, which only the commit awaits. */
  readonly #appended: Promise<unknown>[] = [];
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
    const sorted = names.toSorted();
    await Promise.all(sorted.map(name => this.#send({ name: 'lock', text: LOCK, values: [name] })));
  }

  async tryLock(name: string): Promise<boolean> {
    const { rows } = await this.#send({ name: 'try-lock', text: TRY_LOCK, values: [name] });
    return rows[0].taken;
  }

  async savepoint<T>(part: () => Promise<T>): Promise<T> {
    this.#send({ text: 'SAVEPOINT part' }).catch(() => {});
    try {
      return await part();
    } catch (error) {
      this.#send({ text: 'ROLLBACK TO part' }).catch(() => {});
      throw error;
    } finally {
      this.#send({ text: 'RELEASE part' }).catch(() => {});
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
    const values = valuesOf(toStored(event, this.#clock.now()));
    sendTogether(this.#client, process.nextTick);
    const sent = this.#client.query(this.#sessions.statement({ name: 'append', text: APPEND, values }));
    // The commit reports it.
    sent.catch(() => {});
    this.#appended.push(sent);
  }

  notify(topic: string): void {
    this.topics.add(topic);
  }

  get hasEvents(): boolean {
    return this.#appended.length > 0;
  }

  /** Rejects with DatabaseUnavailable `unknown` when the connection breaks before the server responds. */
  async commit(): Promise<void> {
    try {
      const committed = this.#client.query('COMMIT');
      const [{ command }] = await Promise.all([committed, this.#begun, ...this.#appended]);
      if (command === 'COMMIT') return;
      throw new RolledBack(`The transaction ended with ${command}: a failure in it was ignored`);
    } catch (error) {
      throw toCommitFailure(error);
    }
  }

  async rollback(): Promise<void> {
    await this.#client.query('ROLLBACK');
  }

  #send(query: QueryConfig): Promise<QueryResult> {
    sendTogether(this.#client, process.nextTick);
    return awaitResponse(this.#client.query(this.#sessions.statement(query)));
  }
}
