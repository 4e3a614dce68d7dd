import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Notifier, Queries, Writer } from '../../db/database.ts';
import { SECOND } from '../../kit/clock.ts';
import { selectEnds } from '../event-log/event-queries.ts';
import type { EventTail } from '../event-log/event-tail.ts';
import type { AttemptOptions } from './attempt.ts';
import { type ConnectionLimits, Connections } from './connections.ts';
import { maySendLast } from './delivery-rules.ts';
import { Lane, type LaneOptions } from './lane.ts';
import { problemOf } from './owners.ts';
import { CHECK, serve } from './serve.ts';
import { type ActiveWebhook, selectActiveWebhooks } from './webhook-queries.ts';

/** The notice of transactions that change a webhook or its deliveries. */
export const WEBHOOKS_CHANGED = 'webhooks changed';

/** The interval between two rounds while there are enabled webhooks, in milliseconds. */
const INTERVAL = SECOND;

/** While there are none, every so many intervals have a round: another process may create a webhook. */
const IDLE_INTERVALS = 30;

/** The number of webhooks in one read. */
const PAGE = 100;

interface DispatcherOptions
  extends Omit<AttemptOptions, 'connections'>,
    Pick<LaneOptions, 'readStandings' | 'source' | 'onDisabled' | 'onTurn' | 'onError'> {
  db: Queries & Writer & Notifier;
  tail: EventTail;
  connections: ConnectionLimits;
  /** How long running attempts may take when the service shuts down, in milliseconds. */
  shutdownTimeout: number;
}

/**
 * Sends due deliveries to the endpoints of webhooks. Each process has one dispatcher; they share the work through the store. It
 * looks for webhooks with work, and does not wait for their lanes: a slow endpoint delays only its own deliveries.
 */
export class WebhookDispatcher {
  readonly #options: DispatcherOptions;
  readonly #laneOptions: LaneOptions;
  readonly #closing = new AbortController();
  /** By ID and URL: a webhook gets a new lane when its URL changes. */
  readonly #lanes = new Map<string, Lane>();
  /** The running transactions and attempts of all lanes. */
  readonly #work = new Set<Promise<void>>();
  /** The last round, and the one that follows it because `look` was called during it. */
  #round = Promise.resolve();
  #nextRound: Promise<void> | undefined;
  #rechecks = false;
  #intervals = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Stops following the log. `undefined` while there is no enabled webhook. */
  #unfollow: (() => void) | undefined;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    const connections = new Connections(options.connections);
    const closing = this.#closing.signal;
    this.#laneOptions = { ...options, connections, closing, track: work => this.#track(work) };
    options.db.onNotice(WEBHOOKS_CHANGED, () => this.wake());
  }

  /** The number of lanes: one for each enabled webhook, and those that end. */
  get laneCount(): number {
    return this.#lanes.size;
  }

  /** Whether connections are taken, or lanes wait for one, although nothing runs. That is never so: they would stay taken. */
  get hasLostConnections(): boolean {
    return this.#work.size === 0 && !this.#laneOptions.connections.isUnused;
  }

  start(): void {
    this.#timer = setInterval(() => this.#onInterval(), INTERVAL);
    this.#timer.unref();
    this.wake();
  }

  /** Looks for work at once, because this process changed a webhook or its deliveries. */
  wake(): void {
    if (this.#timer) void this.look(true);
  }

  /**
   * Looks for work. Resolves at the end of a round that started after the call. `rechecks` if full windows may have room, because
   * other replicas also send.
   */
  look(rechecks: boolean): Promise<void> {
    this.#rechecks ||= rechecks;
    this.#nextRound ??= this.#round.then(() => {
      this.#nextRound = undefined;
      this.#round = this.#run();
      return this.#round;
    });
    return this.#nextRound;
  }

  /** Resolves when no transaction and no attempt is running. */
  async idle(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work);
  }

  /** Starts no more attempts. Attempts that do not end within `shutdownTimeout` are aborted and left to other replicas. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#timer);
    this.#unfollow?.();
    await this.#round;
    for (const lane of this.#lanes.values()) lane.stop();
    const timer = setTimeout(() => {
      for (const lane of this.#lanes.values()) lane.abort();
    }, this.#options.shutdownTimeout);
    await this.idle();
    clearTimeout(timer);
    this.#laneOptions.connections.close();
  }

  #track(work: Promise<void>): void {
    const tracked = work.catch(this.#options.onError).finally(() => this.#work.delete(tracked));
    this.#work.add(tracked);
  }

  #onInterval(): void {
    this.#intervals = (this.#intervals + 1) % IDLE_INTERVALS;
    if (this.#unfollow || this.#intervals === 0) void this.look(true);
  }

  async #run(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const rechecks = this.#rechecks;
    this.#rechecks = false;
    try {
      const isActive = await this.#serveAll(rechecks);
      if (this.#closing.signal.aborted) return;
      if (isActive) this.#unfollow ??= this.#options.tail.follow(() => void this.look(false));
      else {
        this.#unfollow?.();
        this.#unfollow = undefined;
      }
    } catch (error) {
      this.#options.onError(error);
    }
  }

  /** Makes the lanes of all enabled webhooks look for work, and stops the other lanes. Returns whether a webhook is enabled. */
  async #serveAll(rechecks: boolean): Promise<boolean> {
    const { db, clock, readStandings } = this.#options;
    const others = new Map(this.#lanes);
    const enabled = new Set<number>();
    let page: ActiveWebhook[] = [];
    do {
      page = await selectActiveWebhooks(db, page.at(-1)?.id ?? 0, PAGE);
      if (page.length === 0) break;
      const now = clock.now();
      const owners = new Set(page.map(({ api_key_id }) => api_key_id));
      const [{ latest }, standings] = await Promise.all([
        selectEnds(db),
        readStandings(db, [...owners], now),
      ]);
      for (const webhook of page) {
        if (this.#closing.signal.aborted) return true;
        const owner = standings.get(webhook.api_key_id)!;
        const isEnding = problemOf(webhook, owner, now) !== undefined;
        if (isEnding && !maySendLast(webhook, owner, now)) await this.#disable(webhook);
        else {
          const key = `${webhook.id} ${webhook.url}`;
          const lane = this.#lanes.get(key) ?? new Lane(webhook, this.#laneOptions);
          this.#lanes.set(key, lane);
          others.delete(key);
          enabled.add(webhook.id);
          // A webhook that ends plans no more deliveries.
          lane.read(webhook, isEnding ? webhook.position : latest, rechecks);
        }
      }
      // Reads of the embedded store block the event loop.
      if (page.length === PAGE) await nextTurn();
    } while (page.length === PAGE);
    for (const [key, lane] of others) {
      lane.stop();
      if (!enabled.has(lane.webhookId)) lane.abort();
      if (lane.isIdle) this.#lanes.delete(key);
    }
    return enabled.size > 0;
  }

  /** Disables a webhook whose key may no longer have events sent. */
  async #disable(webhook: ActiveWebhook): Promise<void> {
    const { db, clock, readStandings, source, onDisabled } = this.#options;
    const served = await serve(db, webhook, CHECK, { readStandings, now: clock.now(), source });
    if (served !== 'locked' && served.disabled) onDisabled(webhook.id, served.disabled);
  }
}
