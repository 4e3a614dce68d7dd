import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { Client, type ClientConfig, Pool, type PoolClient, type PoolConfig } from 'pg';
import type { Clock } from '../kit/clock.ts';
import type { Transaction } from './database.ts';
import { Leftovers } from './leftovers.ts';
import { Notices } from './notices.ts';
import { CONFIRMATION_PROBE, type ConfirmationOptions, Confirmations } from './postgres-confirmations.ts';
import { awaitConnection, isRetryable } from './postgres-errors.ts';
import { PostgresGroups } from './postgres-groups.ts';
import type { EventRelay } from './postgres-relay.ts';
import type { Sessions } from './postgres-sessions.ts';
import {
  PostgresTransaction,
  type TransactionKind,
  type TransactionServices,
} from './postgres-transaction.ts';

/** How often work runs before conflicts with other transactions make it fail. */
const MAX_ATTEMPTS = 6;

/** The number of pages of an index that a long write may change: other writers of its pets and of its new words wait for it. */
const PAGES_OF_LONG_WRITE = 5_000;

/** The maximum number of writes that run alone, per process: more would occupy the connections and the lock table of the server. */
const ALONE_AT_ONCE = 2;

interface WriterOptions {
  configure: () => ClientConfig;
  sessions: Sessions;
  connections: number;
  /** How long a transaction may wait for a lock, in milliseconds. */
  lockTimeout: number;
  /** How long to wait for the response to a statement, in milliseconds. */
  responseTimeout: number;
  /** The maximum number of writes that share a transaction. */
  maxSize: number;
  clock: Clock;
  relay: EventRelay;
  /** Runs an operation as one of those in progress. */
  inTurn: (operation: () => Promise<unknown>) => Promise<unknown>;
  /** Asks the server to end the statement of a connection. Resolves with whether it has read the request. */
  cancel: TransactionServices['cancel'];
  /** Resolves with whether the server still runs a statement of a connection, or its COMMIT. */
  isActive: (client: PoolClient) => Promise<boolean>;
  /** Called after each commit with the number of writes that shared it. */
  onCommit: ((size: number) => void) | undefined;
  onConfirmation: ConfirmationOptions['onStatus'];
}

/** The connections for transactions, each of which has one of its own. */
export class Writers {
  readonly confirmations: Confirmations;
  readonly notices = new Notices();
  readonly #pool: Pool;
  readonly #groups: PostgresGroups;
  readonly #services: TransactionServices;
  readonly #relay: EventRelay;
  readonly #aloneInTurn = pLimit(ALONE_AT_ONCE);

  constructor(options: WriterOptions) {
    const { configure, sessions, connections, clock, relay, inTurn, cancel, isActive } = options;
    this.#pool = new Pool({
      max: connections,
      // For the pool this is the time to wait for a free connection: as long as for a lock, for which its users may wait.
      connectionTimeoutMillis: options.lockTimeout,
      Client: class extends Client {
        constructor() {
          super({ ...configure(), pipeline: true } as ClientConfig);
        }
      },
    } as PoolConfig);
    // A broken connection is replaced when one is needed, and the query that fails with it reports it. An `error` event
    // without a listener would end the process.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', client => client.on('error', () => {}));
    this.#groups = new PostgresGroups({
      together: work => this.#attempt(work, 'group'),
      byItself: work => this.byItself(work),
      maxSize: options.maxSize,
      // Further connections are for long writes.
      maxTransactions: Math.max(1, connections - ALONE_AT_ONCE),
      lockTimeout: options.lockTimeout,
      onCommit: options.onCommit,
    });
    this.confirmations = new Confirmations({
      probe: () => inTurn(() => this.#attempt(tx => tx.run(CONFIRMATION_PROBE))),
      stillCommits: async client => (await cancel(client)) && (await isActive(client)),
      onStatus: options.onConfirmation,
    });
    this.#relay = relay;
    this.#services = { clock, sessions, relay, commitTimeout: options.responseTimeout, cancel };
  }

  get open(): number {
    return this.#pool.totalCount;
  }

  get idle(): number {
    return this.#pool.idleCount;
  }

  /** The number of transactions that wait for a connection. */
  get waiting(): number {
    return this.#pool.waitingCount;
  }

  /** Runs work in a transaction that it may share with others. */
  together<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#groups.write(work);
  }

  /** Runs work in a transaction of its own. */
  byItself<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return attemptOften(() => this.#attempt(work));
  }

  /** Runs long work in a transaction of its own, after other long work. */
  async alone<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    let leftovers: Leftovers | undefined;
    const attempt = () => {
      leftovers = new Leftovers(PAGES_OF_LONG_WRITE);
      return this.#attempt(work, { leftovers });
    };
    const value = await this.#aloneInTurn(() => attemptOften(attempt));
    await leftovers?.finish();
    return value;
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  async #attempt<T>(work: (tx: PostgresTransaction) => Promise<T>, kind?: TransactionKind): Promise<T> {
    const client = await awaitConnection(this.#pool.connect());
    const tx = new PostgresTransaction(client, this.#services, kind);
    try {
      const value = await work(tx);
      await tx.commit();
      client.release();
      if (tx.hasEvents) this.#relay.nudge();
      return value;
    } catch (error) {
      // The locks are released before the caller is notified, which may retry at once. A broken connection is discarded.
      if (tx.cancelledCommit !== undefined)
        this.confirmations.discard(client, tx.cancelledCommit, error as Error);
      else {
        await tx.rollback().then(
          () => client.release(),
          () => client.release(true),
        );
      }
      this.confirmations.note(error);
      throw error;
    } finally {
      // After a failure as well: when the connection breaks during the commit, the change may have been made.
      this.notices.send(tx.topics);
    }
  }
}

async function attemptOften<T>(attempt: () => Promise<T>): Promise<T> {
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
