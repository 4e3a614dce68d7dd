import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import type { Clock } from '../kit/clock.ts';
import type { NewEvent, Transaction, Value } from './database.ts';
import type { Insert } from './insert.ts';
import { sendTogether } from './postgres-batching.ts';
import { answered, RolledBack, toCommitFailure } from './postgres-errors.ts';
import type { Sessions } from './postgres-sessions.ts';
import { statementOf } from './postgres-statements.ts';

/** Waits for a named lock, which ends with the transaction. The 64-bit hash of the name stands for it. */
export const LOCK = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';

/** Adds an event to those that have no number yet: its type, subject, time, data and trace. */
export const APPEND =
  'INSERT INTO new_events (type, subject, time, data, traceparent) VALUES ($1, $2, $3, $4, $5)';

const TRY_LOCK = 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS taken';

/**
 * A transaction on a connection of its own. Statements are sent as they come, without waiting for the answers to those
 * before them, so that a transaction takes only as many round trips as it has answers to wait for.
 */
export class PostgresTransaction implements Transaction {
  readonly engine = 'postgres';
  readonly #client: PoolClient;
  readonly #clock: Clock;
  readonly #sessions: Sessions;
  readonly #begun: Promise<unknown>;
  /** What was sent and not waited for. */
  readonly #appended: Promise<unknown>[] = [];
  /** What is notified when the transaction has ended. */
  readonly topics = new Set<string>();

  /**
   * Begins the transaction, read-only if the operator has set the database so. Each statement sees what was committed before
   * it; locks make up for the rest.
   */
  constructor(client: PoolClient, clock: Clock, sessions: Sessions) {
    this.#client = client;
    this.#clock = clock;
    this.#sessions = sessions;
    // With the first statement, which comes at once.
    sendTogether(client, process.nextTick);
    this.#begun = client.query(sessions.begin);
    // RequestRecord to whoever waits for a statement or the commit, which fail with it.
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

  /** In the order of their names, so that transactions that want the same do not wait for each other. */
  async lock(...names: readonly string[]): Promise<void> {
    const sorted = names.toSorted();
    await Promise.all(sorted.map(name => this.#send({ name: 'lock', text: LOCK, values: [name] })));
  }

  async tryLock(name: string): Promise<boolean> {
    const { rows } = await this.#send({ name: 'try-lock', text: TRY_LOCK, values: [name] });
    return rows[0].taken;
  }

  append({ type, subject, data, traceparent }: NewEvent): void {
    const values = [type, subject, this.#clock.now(), data, traceparent ?? null];
    sendTogether(this.#client, process.nextTick);
    const sent = this.#client.query(this.#sessions.statement({ name: 'append', text: APPEND, values }));
    // RequestRecord by the commit.
    sent.catch(() => {});
    this.#appended.push(sent);
  }

  notify(topic: string): void {
    this.topics.add(topic);
  }

  get hasEvents(): boolean {
    return this.#appended.length > 0;
  }

  /** Rejects with DatabaseUnavailable `unknown` when the connection breaks before the server has answered. */
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
    return answered(this.#client.query(this.#sessions.statement(query)));
  }
}
