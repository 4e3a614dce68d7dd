import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientConfig, Pool, type PoolConfig } from 'pg';
import { type Clock, SECOND } from '../kit/clock.ts';
import {
  type Database,
  type DatabaseLoad,
  DatabaseUnavailable,
  type Transaction,
  type Value,
} from './database.ts';
import { Notices } from './notices.ts';
import { connected, isOfServer, isWorthRepeating, toOutage } from './postgres-errors.ts';
import { type Listener, Notifications, Polling } from './postgres-listener.ts';
import { Readers } from './postgres-readers.ts';
import { CHANNEL, COUNT_UNNUMBERED, EventRelay } from './postgres-relay.ts';
import { directSessions, pooledSessions, type Sessions } from './postgres-sessions.ts';
import { Sockets } from './postgres-sockets.ts';
import { CONNECTION_TIMEOUT, GOODBYE_TIMEOUT, prepareDatabase, startFailure } from './postgres-start.ts';
import { types } from './postgres-statements.ts';
import { PostgresTransaction } from './postgres-transaction.ts';

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with the options that libpq knows, such as `?sslmode=require`. */
  url: string;
  /** The most connections of this process, at least 2. */
  connections: number;
  /** How long a statement may take, in seconds, the wait for locks included. */
  statementSeconds: number;
  /** The most operations in progress; those beyond it are rejected at once. */
  maxQueue: number;
  /** What events are dated by. */
  clock: Clock;
  /** Is told of each change once: that the server cannot be reached, and why, and that it can again. */
  onStatus?: ((status: 'up' | 'away', reason?: string) => void) | undefined;
  /** Is called when a pooler is found in front of the server. */
  onPooler?: (() => void) | undefined;
}

/** Writes a row as it is, which PostgreSQL does. */
const PROBE = 'UPDATE schema_migrations SET applied_at = applied_at WHERE version = 1';

/** How much longer than a statement may take its answer is waited for, in milliseconds: then the server hangs. */
const RESPONSE_MARGIN = SECOND;

/** How often work is done before conflicts with other transactions make it fail. */
const MOST_ATTEMPTS = 6;

/** Connects to PostgreSQL and brings its schema up to date. Rejects with UnusableStore or StoreUnavailable when that cannot be done. */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { url, statementSeconds } = options;
  try {
    const { pooled } = await prepareDatabase(url, statementSeconds * SECOND + RESPONSE_MARGIN);
    if (pooled) options.onPooler?.();
    const sessions = (pooled ? pooledSessions : directSessions)(statementSeconds * SECOND);
    return new PostgresDatabase(options, sessions);
  } catch (error) {
    throw startFailure(url, error);
  }
}

/**
 * Single reads share a few connections, and each transaction has one of its own. No more operations than `maxQueue` are in
 * progress at once, and none waits without an end: for a connection, a lock, a statement or a server that hangs.
 */
class PostgresDatabase implements Database {
  readonly engine = 'postgres';
  readonly #readers: Readers;
  readonly #writers: Pool;
  readonly #sockets = new Sockets();
  /** Milliseconds. */
  readonly #responseTimeout: number;
  readonly #maxQueue: number;
  readonly #clock: Clock;
  readonly #sessions: Sessions;
  readonly #listeners: (() => void)[] = [];
  readonly #notices = new Notices();
  readonly #relay: EventRelay;
  readonly #listener: Listener;
  #inProgress = 0;
  /** Is called when nothing is in progress any more. */
  #onRest = () => {};
  #isClosing = false;
  #isUp = true;
  readonly #onStatus: PostgresOptions['onStatus'];
  readonly #most: number;

  constructor(
    { url, connections, statementSeconds, maxQueue, clock, onStatus }: PostgresOptions,
    sessions: Sessions,
  ) {
    this.#sessions = sessions;
    this.#onStatus = onStatus;
    this.#most = connections;
    this.#responseTimeout = statementSeconds * SECOND + RESPONSE_MARGIN;
    const config: ClientConfig = {
      connectionString: url,
      application_name: 'petstore',
      connectionTimeoutMillis: CONNECTION_TIMEOUT,
      ...sessions.options,
      query_timeout: this.#responseTimeout,
      keepAlive: true,
      stream: () => this.#sockets.create(),
      types: types!,
    };
    const readers = Math.max(1, Math.floor(connections / 3));
    this.#readers = new Readers(config, sessions, readers);
    this.#writers = new Pool({
      ...config,
      pipeline: true,
      max: connections - readers,
      // Of the pool it is the time to wait for a turn: as long as for a lock, which those before may wait for.
      connectionTimeoutMillis: statementSeconds * SECOND,
      Client: PromptClient,
    } as PoolConfig);
    // A connection that breaks is replaced when one is needed. Whoever uses it is told by the query that fails; an error
    // that nobody listens to would end the process.
    this.#writers.on('error', () => {});
    this.#writers.on('connect', client => client.on('error', () => {}));
    this.#maxQueue = maxQueue;
    this.#clock = clock;
    this.#relay = new EventRelay(this);
    const tell = () => {
      for (const listener of this.#listeners) listener();
    };
    this.#listener = sessions.canListen ? new Notifications(config, CHANNEL, tell) : new Polling(tell);
  }

  async get<Row>(sql: string, values: readonly Value[] = []): Promise<Row | undefined> {
    return (await this.all<Row>(sql, values))[0];
  }

  all<Row>(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return this.#inTurn(() => this.#readers.query<Row>(sql, values));
  }

  run(sql: string, values: readonly Value[] = []): Promise<number> {
    return this.write(tx => tx.run(sql, values));
  }

  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await this.#attempt(work);
        } catch (error) {
          if (attempt === MOST_ATTEMPTS || !isWorthRepeating(error)) throw error;
        }
        // Apart from each other, so that those who met do not meet again.
        await sleep(Math.random() * 5 * 2 ** attempt);
      }
    });
  }

  onNotice(topic: string, listener: () => void): void {
    this.#notices.listen(topic, listener);
  }

  onEvents(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async numberEvents(): Promise<void> {
    await this.#relay.numberCommitted();
  }

  async unnumberedEvents(): Promise<number> {
    const row = await this.get<{ events: number }>(COUNT_UNNUMBERED);
    return row!.events;
  }

  async tryWrite(): Promise<void> {
    await this.run(PROBE);
  }

  load(): DatabaseLoad {
    const { totalCount, idleCount, waitingCount } = this.#writers;
    const open = totalCount + this.#readers.open;
    const idle = idleCount + this.#readers.idle;
    return {
      // Several reads wait for one connection.
      queued: Math.max(waitingCount, this.#inProgress - (open - idle)),
      connections: { open, idle, most: this.#most },
      isUp: this.#isUp,
    };
  }

  async close(): Promise<void> {
    const patience = this.#inProgress > 0 ? this.#responseTimeout : GOODBYE_TIMEOUT;
    const timer = setTimeout(() => this.#sockets.cutOff(), patience);
    await Promise.all([this.#relay.close(), this.#listener.close()]);
    this.#isClosing = true;
    if (this.#inProgress > 0) {
      await new Promise<void>(resolve => {
        this.#onRest = resolve;
      });
    }
    await Promise.all([this.#readers.close(), this.#writers.end()]);
    await this.#sockets.closed();
    clearTimeout(timer);
  }

  async #inTurn<T>(operation: () => Promise<T>): Promise<T> {
    if (this.#isClosing) throw new DatabaseUnavailable(new Error('The database is being closed'));
    if (this.#inProgress >= this.#maxQueue) throw new DatabaseUnavailable(undefined, 'busy');
    this.#inProgress++;
    try {
      const result = await operation();
      if (!this.#isUp) this.#setUp(true);
      return result;
    } catch (error) {
      const told = toOutage(error);
      if (this.#isUp && told instanceof DatabaseUnavailable && isOfServer(told))
        this.#setUp(false, told.reason);
      throw told;
    } finally {
      this.#inProgress--;
      if (this.#inProgress === 0) this.#onRest();
    }
  }

  #setUp(isUp: boolean, reason?: string): void {
    this.#isUp = isUp;
    this.#onStatus?.(isUp ? 'up' : 'away', reason);
  }

  async #attempt<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const client = await connected(this.#writers.connect());
    const tx = new PostgresTransaction(client, this.#clock, this.#sessions);
    try {
      const value = await work(tx);
      await tx.commit();
      client.release();
      if (tx.hasEvents) this.#relay.nudge();
      return value;
    } catch (error) {
      // Its locks end before it is told of: whoever asked may ask again at once. A connection that fails is given up.
      await tx.rollback().then(
        () => client.release(),
        () => client.release(true),
      );
      throw error;
    } finally {
      // After a failure, too: when the connection breaks during the commit, the change may have been made.
      this.#notices.send(tx.topics);
    }
  }
}

/** Gives up connecting when it takes too long. */
class PromptClient extends Client {
  constructor(config?: ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECTION_TIMEOUT });
  }
}
