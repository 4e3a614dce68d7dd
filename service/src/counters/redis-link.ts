import { performance } from 'node:perf_hooks';
import { SECOND } from '../kit/clock.ts';
import { asError } from '../kit/thrown.ts';
import { newState } from './decide.ts';
import { packQuestion, type Question } from './packed-state.ts';
import { type RedisClient, type RedisConnection, redisConnection } from './redis-client.ts';

/** How long an answer is waited for, in milliseconds: longer than a busy machine keeps Redis from it, and what one request can wait. */
const RESPONSE_TIMEOUT = SECOND;

/** How long a connection may take until it has been tried out, in milliseconds. */
const CONNECT_TIMEOUT = SECOND;

/** How long after Redis was found away it is looked for again, in milliseconds. */
const PROBE_INTERVAL = 500;

/** A timer that is so late, in milliseconds, says that this process stood still, not Redis. */
const STANDSTILL = 50;

/** A request of no client: it only tries a decision. */
const PROBE: Question = {
  what: 'count',
  now: undefined,
  kept: SECOND,
  terms: { limits: { perMinute: 1, perDay: 1 }, bansLiftedAt: 0, banRules: undefined },
  seed: newState(0),
};

export interface RedisLinkOptions {
  urls: readonly string[];
  /** Is called whenever Redis can be asked again, also the first time. */
  onConnect: () => void;
  /** Is told of each change once: that Redis is away, and why, and that it is back. */
  onStatus: (status: 'shared' | 'fallback', error?: Error) => void;
  /** Is called with the name of each command that is sent; what it returns is called with whether there was an answer. */
  onCommand?: ((command: string) => ((isResponded: boolean) => void) | undefined) | undefined;
}

interface OpenQuestion {
  key: string;
  askedAt: number;
  giveUp: () => void;
}

/**
 * Asks Redis as long as it answers. With the first question that fails or is not answered in time it counts as away: all
 * questions that are open, and those that come, have no answer until a connection has been tried out anew.
 */
export class RedisLink {
  readonly #options: RedisLinkOptions;
  #connection: RedisConnection | undefined;
  /** The connection that is being tried out. */
  #candidate: RedisConnection | undefined;
  readonly #open = new Set<OpenQuestion>();
  #responseTimer: NodeJS.Timeout | undefined;
  #probeTimer: NodeJS.Timeout | undefined;
  /** The key of the question that failed last: in a cluster each is another node's. */
  #doubtfulKey = 'petstore:limits:{probe}';
  #told: 'shared' | 'fallback' = 'shared';
  #closed = false;

  constructor(options: RedisLinkOptions) {
    this.#options = options;
  }

  get isUp(): boolean {
    return this.#connection !== undefined;
  }

  /** Tries to connect, and goes on trying when that fails. */
  async connect(): Promise<void> {
    const candidate = await redisConnection(this.#options.urls);
    if (this.#closed) return;
    this.#candidate = candidate;
    try {
      await within(CONNECT_TIMEOUT, this.#tryOut(candidate));
    } catch (error) {
      candidate.end();
      this.#away(asError(error));
      return;
    } finally {
      this.#candidate = undefined;
    }
    if (this.#closed) return;
    this.#connection = candidate;
    candidate.onEnd(error => this.#lose(candidate, error));
    this.#options.onConnect();
    this.#tell('shared');
  }

  /** Has `decide.lua` answer a packed question; `undefined` when Redis is away. */
  decide(key: string, question: string): Promise<string | undefined> {
    return this.#ask('EVALSHA', key, client => client.decide(key, question));
  }

  /** What is kept under a key; `undefined` when Redis is away. */
  get(key: string): Promise<string | null | undefined> {
    return this.#ask('GET', key, client => client.get(key));
  }

  /** What is kept under a key, which is `value` if there was nothing; `undefined` when Redis is away. */
  async mark(key: string, value: string): Promise<string | undefined> {
    const kept = await this.get(key);
    if (kept !== null) return kept;
    await this.#ask('SET', key, client => client.set(key, value, 'NX'));
    return (await this.get(key)) ?? undefined;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#probeTimer);
    this.#candidate?.end();
    this.#disconnect();
  }

  /** Tries a decision for no client, with a key of its own: all that a decision needs must be there. */
  async #tryOut({ open, client }: RedisConnection): Promise<void> {
    await open();
    await client.decide(`${this.#doubtfulKey}:probe`, packQuestion(PROBE));
  }

  #ask<T>(command: string, key: string, send: (client: RedisClient) => Promise<T>): Promise<T | undefined> {
    const connection = this.#connection;
    if (!connection) return Promise.resolve(undefined);
    return new Promise(resolve => {
      const onEnd = this.#options.onCommand?.(command);
      const giveUp = () => {
        onEnd?.(false);
        resolve(undefined);
      };
      const question = { key, askedAt: performance.now(), giveUp };
      this.#open.add(question);
      if (!this.#responseTimer) this.#checkIn(RESPONSE_TIMEOUT);
      send(connection.client).then(
        answer => {
          this.#open.delete(question);
          onEnd?.(true);
          resolve(answer);
        },
        error => {
          this.#lose(connection, error, key);
        },
      );
    });
  }

  /** One timer for all questions, because one for each would cost more than the rest of it. */
  #checkIn(milliseconds: number): void {
    const due = performance.now() + milliseconds;
    this.#responseTimer = setTimeout(() => {
      this.#responseTimer = undefined;
      const [oldest] = this.#open;
      const connection = this.#connection;
      if (!oldest || !connection) return;
      const now = performance.now();
      const left = oldest.askedAt + RESPONSE_TIMEOUT - now;
      if (left > 0) this.#checkIn(left);
      else if (now - due > STANDSTILL) this.#checkIn(RESPONSE_TIMEOUT);
      else {
        const error = new Error(`Redis did not answer within ${RESPONSE_TIMEOUT} ms`);
        this.#lose(connection, error, oldest.key);
      }
    }, milliseconds);
  }

  #lose(connection: RedisConnection, error: Error, key?: string): void {
    if (connection !== this.#connection) return;
    this.#doubtfulKey = key ?? this.#doubtfulKey;
    this.#disconnect();
    this.#away(error);
  }

  #disconnect(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.end();
    clearTimeout(this.#responseTimer);
    this.#responseTimer = undefined;
    for (const { giveUp } of this.#open) giveUp();
    this.#open.clear();
  }

  #away(error: Error): void {
    if (this.#closed) return;
    this.#tell('fallback', error);
    this.#probeTimer = setTimeout(() => void this.connect(), PROBE_INTERVAL).unref();
  }

  #tell(status: 'shared' | 'fallback', error?: Error): void {
    if (status === this.#told) return;
    this.#told = status;
    this.#options.onStatus(status, error);
  }
}

async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`Redis did not answer within ${milliseconds} ms`)),
      milliseconds,
    );
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
