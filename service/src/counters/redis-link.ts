import { performance } from 'node:perf_hooks';
import { SECOND } from '../kit/clock.ts';
import { asError } from '../kit/thrown.ts';
import { newState } from './decide.ts';
import { packCall, type ScriptCall } from './packed-state.ts';
import { type RedisConnection, redisConnection } from './redis-client.ts';

/** How long to wait for Redis, in milliseconds: longer than a busy machine delays it, and short enough for a request. */
const TIMEOUT = SECOND;

/** How long to wait before connecting again, in milliseconds. */
const RECONNECT_DELAY = 500;

/** When a timer is later than this, in milliseconds, this process was blocked, and Redis is not at fault. */
const BLOCKED = 50;

/** A decision for no client, which only tests that decisions work. */
const PROBE: ScriptCall = {
  what: 1,
  now: undefined,
  ttl: SECOND,
  terms: { limits: { perMinute: 1, perDay: 1 }, bansLiftedAt: 0, banRules: undefined },
  seed: newState(0),
};

export interface RedisLinkOptions {
  urls: readonly string[];
  /** Makes a connection that is not open yet; replaced by tests. */
  connect?: typeof redisConnection;
  /** Begins the names of all keys, followed by a colon. */
  prefix?: string | undefined;
  /** How long a response, or connecting and the first decision, may take, in milliseconds. The default is 1,000. */
  timeout?: number | undefined;
  /** Called after each connection, including the first. */
  onConnect: () => void;
  /**
   * Called once when Redis becomes unavailable, with the error, and once when it is available again. Meanwhile called with each other error
   * with which Redis itself rejects commands, such as a wrong password after a restart.
   */
  onStatus: (status: 'shared' | 'fallback', error?: Error) => void;
  /** Called with the name of each command. The function that it returns is called with whether Redis responded. */
  onCommand?: ((command: string) => ((isResponded: boolean) => void) | undefined) | undefined;
}

interface PendingCommand {
  key: string;
  sentAt: number;
  abandon: () => void;
}

/**
 * Sends commands to Redis while it responds. After the first command that fails or times out, Redis counts as unavailable:
 * pending and new commands resolve with `undefined` until a new connection has passed the probe.
 */
export class RedisLink {
  readonly #options: RedisLinkOptions;
  readonly #timeout: number;
  #connection: RedisConnection | undefined;
  /** The connection that is being probed. */
  #candidate: RedisConnection | undefined;
  readonly #pending = new Set<PendingCommand>();
  #responseTimer: NodeJS.Timeout | undefined;
  #reconnectTimer: NodeJS.Timeout | undefined;
  /** The key of the last failed command, which the probe uses, so that in a cluster it reaches the same node. */
  #failedKey = 'petstore:limits:{probe}';
  #status: 'shared' | 'fallback' = 'shared';
  /** The texts of the errors that Redis has returned since it is unavailable. */
  readonly #rejections = new Set<string>();
  #closed = false;

  constructor(options: RedisLinkOptions) {
    this.#options = options;
    this.#timeout = options.timeout ?? TIMEOUT;
  }

  get isUp(): boolean {
    return this.#connection !== undefined;
  }

  /** Connects. After a failure it retries later. */
  async connect(): Promise<void> {
    const { urls, prefix, connect = redisConnection } = this.#options;
    const candidate = await connect(urls, prefix === undefined ? '' : `${prefix}:`);
    if (this.#closed) return;
    this.#candidate = candidate;
    try {
      await within(this.#timeout, this.#probe(candidate));
    } catch (error) {
      candidate.end();
      this.#fallBack(asError(error));
      return;
    } finally {
      this.#candidate = undefined;
    }
    if (this.#closed) return;
    this.#connection = candidate;
    candidate.onEnd(error => this.#lose(candidate, error));
    this.#options.onConnect();
    this.#setStatus('shared');
  }

  /** Runs `decide.lua` for packed calls that belong together; resolves with `undefined` when Redis is unavailable. */
  decide(keys: readonly string[], calls: readonly string[]): Promise<string[] | undefined> {
    return this.#send('EVALSHA', keys[0]!, connection => connection.decide(keys, calls));
  }

  /** Reads the value of a key; resolves with `undefined` when Redis is unavailable. */
  get(key: string): Promise<string | null | undefined> {
    return this.#send('GET', key, connection => connection.get(key));
  }

  /** Keeps the connections to all nodes of a cluster open. */
  keepOpen(): void {
    this.#connection?.keepOpen();
  }

  /** Sets a key to `value` if it does not exist. Resolves with its value; `undefined` when Redis is unavailable. */
  async mark(key: string, value: string): Promise<string | undefined> {
    const existing = await this.get(key);
    if (existing !== null) return existing;
    await this.#send('SET', key, connection => connection.setNew(key, value));
    return (await this.get(key)) ?? undefined;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#reconnectTimer);
    this.#candidate?.end();
    this.#disconnect();
  }

  /** Opens a connection and makes a decision with a key of its own, to test everything that a decision needs. */
  async #probe({ open, decide }: RedisConnection): Promise<void> {
    await open();
    await decide([`${this.#failedKey}:probe`], [packCall(PROBE)]);
  }

  #send<T>(
    command: string,
    key: string,
    send: (connection: RedisConnection) => Promise<T>,
  ): Promise<T | undefined> {
    const connection = this.#connection;
    if (!connection) return Promise.resolve(undefined);
    return new Promise(resolve => {
      const onEnd = this.#options.onCommand?.(command);
      const abandon = () => {
        onEnd?.(false);
        resolve(undefined);
      };
      const pending = { key, sentAt: performance.now(), abandon };
      this.#pending.add(pending);
      if (!this.#responseTimer) this.#checkIn(this.#timeout);
      send(connection).then(
        result => {
          this.#pending.delete(pending);
          onEnd?.(true);
          resolve(result);
        },
        error => {
          this.#lose(connection, error, key);
        },
      );
    });
  }

  /** One timer for all commands, because a timer for each would cost more than the command. */
  #checkIn(milliseconds: number): void {
    const due = performance.now() + milliseconds;
    this.#responseTimer = setTimeout(() => {
      this.#responseTimer = undefined;
      const [oldest] = this.#pending;
      const connection = this.#connection;
      if (!oldest || !connection) return;
      const now = performance.now();
      const left = oldest.sentAt + this.#timeout - now;
      if (left > 0) this.#checkIn(left);
      else if (now - due > BLOCKED) this.#checkIn(this.#timeout);
      else {
        const error = new Error(`Redis did not respond within ${this.#timeout} ms`);
        this.#lose(connection, error, oldest.key);
      }
    }, milliseconds);
  }

  #lose(connection: RedisConnection, error: Error, key?: string): void {
    if (connection !== this.#connection) return;
    this.#failedKey = key ?? this.#failedKey;
    this.#disconnect();
    this.#fallBack(error);
  }

  #disconnect(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.end();
    clearTimeout(this.#responseTimer);
    this.#responseTimer = undefined;
    for (const { abandon } of this.#pending) abandon();
    this.#pending.clear();
  }

  #fallBack(error: Error): void {
    if (this.#closed) return;
    this.#setStatus('fallback', error);
    this.#reconnectTimer = setTimeout(() => void this.connect(), RECONNECT_DELAY).unref();
  }

  #setStatus(status: 'shared' | 'fallback', error?: Error): void {
    const rejection = error?.name === 'ReplyError' ? error.message : undefined;
    const isKnown = rejection === undefined || this.#rejections.has(rejection);
    if (status === this.#status && isKnown) return;
    this.#status = status;
    if (status === 'shared') this.#rejections.clear();
    if (rejection !== undefined) this.#rejections.add(rejection);
    this.#options.onStatus(status, error);
  }
}

/** Rejects when the work takes longer. It has the same time again after this process was blocked. */
async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const wait = () => {
    const due = performance.now() + milliseconds;
    timer = setTimeout(() => {
      if (performance.now() - due > BLOCKED) wait();
      else reject(new Error(`Redis did not respond within ${milliseconds} ms`));
    }, milliseconds);
  };
  wait();
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
