import type { ClientConfig, PoolClient } from 'pg';
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
import { EVENTS, RESTORED } from './notices.ts';
import { CANCEL_TIMEOUT } from './postgres-confirmations.ts';
import { isServerOutage, toOutage } from './postgres-errors.ts';
import { type Listener, Notifications, Polling } from './postgres-listener.ts';
import { Primary } from './postgres-primary.ts';
import { Readers } from './postgres-readers.ts';
import {
  CHANNEL,
  COUNT_UNNUMBERED,
  type ContinuedLog,
  EventRelay,
  type RelayStore,
} from './postgres-relay.ts';
import { directSessions, pooledSessions, type Sessions } from './postgres-sessions.ts';
import { Sockets } from './postgres-sockets.ts';
import { CLOSE_TIMEOUT, prepareDatabase, startFailure } from './postgres-start.ts';
import { types } from './postgres-statements.ts';
import { Writers } from './postgres-writers.ts';

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

/** How old an event without a number must be to count, in milliseconds: under load, some are always about to get theirs. */
const UNNUMBERED_AGE = 10 * SECOND;

/** How long after the time limit of a statement to wait for the response, in milliseconds; after that the server hangs. */
const RESPONSE_MARGIN = SECOND;

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
  readonly #writers: Writers;
  readonly #primary: Primary;
  readonly #sockets = new Sockets();
  /** In milliseconds. */
  readonly #responseTimeout: number;
  readonly #clock: Clock;
  readonly #maxQueue: number;
  readonly #relay: EventRelay;
  readonly #listener: Listener;
  #inProgress = 0;
  /** Called when no operation is in progress any more. */
  #onIdle = () => {};
  #isClosing = false;
  #isUp = true;
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
    this.#clock = clock;
    this.#onStatus = onStatus;
    this.#most = connections;
    this.#responseTimeout = statementSeconds * SECOND + RESPONSE_MARGIN;
    const configure = (): ClientConfig => ({
      ...this.#sockets.optionsOf(primary.url, this.#responseTimeout),
      ...sessions.options,
      types: types!,
    });
    const readers = Math.max(1, Math.floor(connections / 3));
    this.#readers = new Readers(configure, sessions, readers);
    this.#maxQueue = maxQueue;
    const relayed: RelayStore = {
      get: this.get.bind(this),
      write: work => this.#write(() => this.#writers.byItself(work)),
    };
    this.#relay = new EventRelay(relayed, {
      clock,
      onContinued,
      onRange: () => this.#writers.notices.send([RESTORED]),
    });
    this.#writers = new Writers({
      configure,
      sessions,
      connections: connections - readers,
      lockTimeout: statementSeconds * SECOND,
      responseTimeout: this.#responseTimeout,
      maxSize: writeBatch,
      clock,
      relay: this.#relay,
      inTurn: operation => this.#inTurn(operation),
      cancel: client => this.#sockets.requestCancel(client, CANCEL_TIMEOUT),
      isActive: client => this.#isActive(client),
      onCommit,
      onConfirmation: status => this.#onStatus?.(status),
    });
    const notifyListeners = (lastId?: string) => {
      this.#relay.note(Number(lastId));
      this.#writers.notices.send([EVENTS]);
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
    return this.#write(() => this.#writers.byItself(tx => tx.run(sql, values)));
  }

  write<T>(work: (tx: Transaction) => Promise<T>, { alone = false }: WriteOptions = {}): Promise<T> {
    if (!alone) return this.#write(() => this.#writers.together(work));
    return this.#write(() => this.#writers.alone(work));
  }

  onNotice(topic: string, listener: () => void): void {
    this.#writers.notices.listen(topic, listener);
  }

  async numberEvents(): Promise<void> {
    await this.#relay.numberCommitted();
  }

  async unnumberedEvents(): Promise<number> {
    const latest = this.#clock.now() - UNNUMBERED_AGE;
    const row = await this.get<{ events: number }>(COUNT_UNNUMBERED, [latest]);
    return row!.events;
  }

  async tryWrite(): Promise<void> {
    await this.run(PROBE);
  }

  load(): DatabaseLoad {
    const open = this.#writers.open + this.#readers.open;
    const idle = this.#writers.idle + this.#readers.idle;
    return {
      // Several reads wait for one connection.
      queued: Math.max(this.#writers.waiting, this.#inProgress - (open - idle)),
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
      this.#writers.confirmations.close();
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

  async #write<T>(operation: () => Promise<T>): Promise<T> {
    this.#writers.confirmations.rejectUnconfirmed();
    return this.#inTurn(operation);
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

  /** Whether the server still runs a statement of a connection, or its COMMIT; `true` while this process is too busy to ask. */
  async #isActive(client: PoolClient): Promise<boolean> {
    const { processID } = client as PoolClient & { processID: number };
    const sql = "SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND state <> 'idle'";
    try {
      return (await this.all(sql, [processID])).length > 0;
    } catch (error) {
      if (error instanceof DatabaseUnavailable) return error.what === 'busy';
      throw error;
    }
  }
}
