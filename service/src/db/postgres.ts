import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { Client, type ClientConfig, Pool, type PoolClient, type PoolConfig } from 'pg';
import { type Clock, SECOND } from '../kit/clock.ts';
import {
  type Database,
  type DatabaseLoad,
  DatabaseUnavailable,
  type QueryPlan,
  type StoreStatus,
  type Transaction,
  type Value,
  type WriteOptions,
} from './database.ts';
import { Leftovers } from './leftovers.ts';
import { Notices } from './notices.ts';
import { CANCEL_TIMEOUT, CONFIRMATION_PROBE, Confirmations } from './postgres-confirmations.ts';
import { awaitConnection, isRetryable, isServerOutage, toOutage } from './postgres-errors.ts';
import { PostgresGroups } from './postgres-groups.ts';
import { type Listener, Notifications, Polling } from './postgres-listener.ts';
import { CONNECTION_TIMEOUT, Primary } from './postgres-primary.ts';
import { Readers } from './postgres-readers.ts';
import { CHANNEL, COUNT_UNNUMBERED, type ContinuedLog, EventRelay } from './postgres-relay.ts';
import { directSessions, pooledSessions, type Sessions } from './postgres-sessions.ts';
import { Sockets } from './postgres-sockets.ts';
import { CLOSE_TIMEOUT, prepareDatabase, startFailure } from './postgres-start.ts';
import { types } from './postgres-statements.ts';
import {
  PostgresTransaction,
  type TransactionKind,
  type TransactionServices,
} from './postgres-transaction.ts';

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with parameters of libpq such as `?sslmode=require`, and perhaps several hosts. */
  url: string;
  /** The maximum number of connections of this process, at least 2. */
  connections: number;
  /** How long a statement may take, in seconds, the wait for locks included. */
  statementSeconds: number;
  /** The maximum number of operations in progress; further ones are rejected at once. */
  maxQueue: number;
  /** The maximum number of writes that share a transaction. */
  writeBatch: number;
  /** Called after each commit with the number of writes that shared it. */
  onCommit?: ((size: number) => void) | undefined;
  /** Dates the events. */
  clock: Clock;
  /** Called once when the server becomes unavailable or does not confirm commits, and once when this has ended. */
  onStatus?: ((status: StoreStatus, reason?: string) => void) | undefined;
  /** Called with the URL of the new primary when another server has become it. */
  onPrimary?: ((url: string) => void) | undefined;
  /** Called when connections go through a pooler. */
  onPooler?: (() => void) | undefined;
  /** Called when notifications do not reach other sessions, so that the service polls for events. */
  onPolling?: (() => void) | undefined;
  /** Called with the names of the migrations that the start has applied. */
  onMigrated?: ((names: string[]) => void) | undefined;
  /** Called when this process has continued the event log in a new range, because the database was returned to an earlier state. */
  onContinued?: ((log: ContinuedLog) => void) | undefined;
}

/** What the start has found out. */
interface Found {
  primary: Primary;
  sessions: Sessions;
  /** Whether notifications reach other sessions. */
  canListen: boolean;
}

/** Writes a row without changing it; unlike SQLite, PostgreSQL writes a new version of the row. */
const PROBE = 'UPDATE schema_migrations SET applied_at = applied_at WHERE version = 1';

/** How long after the time limit of a statement to wait for the response, in milliseconds; after that the server hangs. */
const RESPONSE_MARGIN = SECOND;

/** How often work runs before conflicts with other transactions make it fail. */
const MAX_ATTEMPTS = 6;

/** The number of pages of an index that a long write may change: other writers of its pets and of its new words wait for it. */
const PAGES_OF_LONG_WRITE = 5_000;

/** The maximum number of writes that run alone, per process: more would occupy the connections and the lock table of the server. */
const ALONE_AT_ONCE = 2;

/** Connects to PostgreSQL and brings its schema up to date. Rejects with UnusableStore or StoreUnavailable. */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { url, statementSeconds } = options;
  const primary = new Primary(url);
  try {
    await primary.find();
    const { isPooled, canListen, applied } = await prepareDatabase(
      primary.url,
      statementSeconds * SECOND + RESPONSE_MARGIN,
    );
    if (isPooled) options.onPooler?.();
    else if (!canListen) options.onPolling?.();
    if (applied.length > 0) options.onMigrated?.(applied);
    const sessions = (isPooled ? pooledSessions : directSessions)(statementSeconds * SECOND);
    return new PostgresDatabase(options, { sessions, canListen, primary });
  } catch (error) {
    await primary.close();
    throw startFailure(url, error);
  }
}

/**
 * Single reads share a few connections, and each transaction has a connection of its own. At most `maxQueue` operations are
 * in progress, and every wait has a limit: for a connection, a lock, a statement or a server that hangs.
 */
class PostgresDatabase implements Database {
  readonly engine = 'postgres';
  readonly #readers: Readers;
  readonly #writers: Pool;
  readonly #primary: Primary;
  readonly #sockets = new Sockets();
  /** In milliseconds. */
  readonly #responseTimeout: number;
  readonly #maxQueue: number;
  readonly #services: TransactionServices;
  readonly #listeners: (() => void)[] = [];
  readonly #notices = new Notices();
  readonly #relay: EventRelay;
  readonly #listener: Listener;
  readonly #groups: PostgresGroups;
  readonly #aloneInTurn = pLimit(ALONE_AT_ONCE);
  #inProgress = 0;
  /** Called when no operation is in progress any more. */
  #onIdle = () => {};
  #isClosing = false;
  #isUp = true;
  readonly #confirmations: Confirmations;
  readonly #onStatus: PostgresOptions['onStatus'];
  readonly #most: number;

  constructor(options: PostgresOptions, { sessions, canListen, primary }: Found) {
    const {
      connections,
      statementSeconds,
      maxQueue,
      writeBatch,
      clock,
      onStatus,
      onCommit,
      onContinued,
      onPrimary,
    } = options;
    this.#primary = primary;
    this.#onStatus = onStatus;
    this.#most = connections;
    this.#responseTimeout = statementSeconds * SECOND + RESPONSE_MARGIN;
    const configure = (): ClientConfig => ({
      connectionString: primary.url,
      application_name: 'petstore',
      connectionTimeoutMillis: CONNECTION_TIMEOUT,
      ...sessions.options,
      query_timeout: this.#responseTimeout,
      keepAlive: true,
      stream: () => this.#sockets.create(),
      types: types!,
    });
    const readers = Math.max(1, Math.floor(connections / 3));
    this.#readers = new Readers(configure, sessions, readers);
    this.#writers = new Pool({
      max: connections - readers,
      // For the pool this is the time to wait for a free connection: as long as for a lock, for which its users may wait.
      connectionTimeoutMillis: statementSeconds * SECOND,
      Client: class extends Client {
        constructor() {
          super({ ...configure(), pipeline: true } as ClientConfig);
        }
      },
    } as PoolConfig);
    // A broken connection is replaced when one is needed, and the query that fails with it reports it. An `error` event
    // without a listener would end the process.
    this.#writers.on('error', () => {});
    this.#writers.on('connect', client => client.on('error', () => {}));
    this.#maxQueue = maxQueue;
    const relayed = { get: this.get.bind(this), write: this.#write.bind(this) };
    this.#relay = new EventRelay(relayed, { clock, onContinued });
    this.#groups = new PostgresGroups({
      together: work => this.#attempt(work, 'group'),
      byItself: work => this.#attemptOften(() => this.#attempt(work)),
      maxSize: writeBatch,
      // Further connections are for long writes and for operations that run again.
      maxTransactions: Math.max(1, connections - readers - 2),
      onCommit,
    });
    const cancel = (client: PoolClient) => this.#sockets.requestCancel(client, CANCEL_TIMEOUT);
    this.#confirmations = new Confirmations({
      probe: () => this.#inTurn(() => this.#attempt(tx => tx.run(CONFIRMATION_PROBE))),
      stillCommits: async client => (await cancel(client)) && (await this.#isActive(client)),
      onStatus: status => this.#onStatus?.(status),
    });
    this.#services = {
      clock,
      sessions,
      relay: this.#relay,
      commitTimeout: this.#responseTimeout,
      cancel,
    };
    const notifyListeners = (lastId?: string) => {
      this.#relay.note(Number(lastId));
      for (const listener of this.#listeners) listener();
    };
    this.#listener = canListen
      ? new Notifications(configure, CHANNEL, notifyListeners)
      : new Polling(notifyListeners);
    primary.watch(() => {
      // What waits for the former primary, which may hang, fails at once.
      this.#sockets.cutOff();
      onPrimary?.(primary.url);
    });
  }

  async get<Row>(sql: string, values: readonly Value[] = []): Promise<Row | undefined> {
    return (await this.all<Row>(sql, values))[0];
  }

  all<Row>(sql: string, values: readonly Value[] = [], plan?: QueryPlan): Promise<Row[]> {
    return this.#inTurn(() => this.#readers.query<Row>(sql, values, plan));
  }

  /** In a transaction of its own: outside of a transaction only sweeps change rows, and may change many. */
  run(sql: string, values: readonly Value[] = []): Promise<number> {
    return this.#write(tx => tx.run(sql, values));
  }

  async write<T>(work: (tx: Transaction) => Promise<T>, { alone = false }: WriteOptions = {}): Promise<T> {
    this.#confirmations.rejectUnconfirmed();
    if (!alone) return this.#inTurn(() => this.#groups.write(work));
    let leftovers: Leftovers | undefined;
    const attempt = () => {
      leftovers = new Leftovers(PAGES_OF_LONG_WRITE);
      return this.#attempt(work, { leftovers });
    };
    const value = await this.#inTurn(() => this.#aloneInTurn(() => this.#attemptOften(attempt)));
    await leftovers?.finish();
    return value;
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
    const timeout = this.#inProgress > 0 ? this.#responseTimeout : CLOSE_TIMEOUT;
    const timer = setTimeout(() => this.#sockets.cutOff(), timeout);
    try {
      await Promise.all([this.#relay.close(), this.#listener.close()]);
      this.#isClosing = true;
      this.#confirmations.close();
      if (this.#inProgress > 0) {
        await new Promise<void>(resolve => {
          this.#onIdle = resolve;
        });
      }
      await Promise.all([this.#readers.close(), this.#writers.end(), this.#primary.close()]);
      await this.#sockets.closed();
    } finally {
      clearTimeout(timer);
    }
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
      const thrown = toOutage(error);
      if (this.#isUp && thrown instanceof DatabaseUnavailable && isServerOutage(thrown))
        this.#setUp(false, thrown.reason);
      throw thrown;
    } finally {
      this.#inProgress--;
      if (this.#inProgress === 0) this.#onIdle();
    }
  }

  #setUp(isUp: boolean, reason?: string): void {
    this.#isUp = isUp;
    this.#onStatus?.(isUp ? 'up' : 'unavailable', reason);
  }

  async #attemptOften<T>(attempt: () => Promise<T>): Promise<T> {
    for (let attempts = 1; ; attempts++) {
      try {
        return await attempt();
      } catch (error) {
        if (attempts === MAX_ATTEMPTS || !isRetryable(error)) throw error;
      }
      // A random delay, so that transactions that conflicted do not conflict again.
      await sleep(Math.random() * 5 * 2 ** attempts);
    }
  }

  /** Whether the server still runs a statement of a connection, or its COMMIT. */
  async #isActive(client: PoolClient): Promise<boolean> {
    const { processID } = client as PoolClient & { processID: number };
    const sql = "SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND state <> 'idle'";
    try {
      return (await this.all(sql, [processID])).length > 0;
    } catch (error) {
      if (error instanceof DatabaseUnavailable) return false;
      throw error;
    }
  }

  /** Runs work in a transaction of its own. */
  async #write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    this.#confirmations.rejectUnconfirmed();
    return this.#inTurn(() => this.#attemptOften(() => this.#attempt(work)));
  }

  async #attempt<T>(work: (tx: PostgresTransaction) => Promise<T>, kind?: TransactionKind): Promise<T> {
    const client = await awaitConnection(this.#writers.connect());
    const tx = new PostgresTransaction(client, this.#services, kind);
    try {
      const value = await work(tx);
      await tx.commit();
      client.release();
      if (tx.hasEvents) this.#relay.nudge();
      return value;
    } catch (error) {
      // The locks are released before the caller is notified, which may retry at once. A broken connection is discarded.
      if (tx.cancelledCommit) this.#confirmations.discard(client, tx.cancelledCommit, error as Error);
      else {
        await tx.rollback().then(
          () => client.release(),
          () => client.release(true),
        );
      }
      this.#confirmations.note(error);
      throw error;
    } finally {
      // After a failure as well: when the connection breaks during the commit, the change may have been made.
      this.#notices.send(tx.topics);
    }
  }
}
