import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Scope } from '../../contract/scopes.ts';
import type { Notifier, Queries, Writer } from '../../db/database.ts';
import { type Clock, SECOND } from '../../kit/clock.ts';
import type { Tracing } from '../../kit/tracing.ts';
import { selectEnds } from '../event-log/event-queries.ts';
import type { EventTail } from '../event-log/event-tail.ts';
import type { AttemptResult } from './attempt-results.ts';
import type { ConnectionLimits } from './connections.ts';
import type { Endpoints } from './endpoints.ts';
import { Lane } from './lane.ts';
import { disableUnlessAllowed } from './outbox.ts';
import { problemOf, type ReadStandings } from './owners.ts';
import { Sender } from './sender.ts';
import { type ActiveWebhook, selectActiveWebhooks } from './webhook-queries.ts';

/** The notice of transactions that change a webhook or its deliveries. */
export const WEBHOOKS_CHANGED = 'webhooks changed';

/** The interval between two rounds while there are enabled webhooks, in milliseconds. */
const ACTIVE_INTERVAL = SECOND;

/** The interval while there are none, in milliseconds: another process may create a webhook. */
const IDLE_INTERVAL = 30 * SECOND;

/** The number of consecutive rounds without webhooks after which the dispatcher uses the longer interval. */
const IDLE_AFTER = 5;

/** The number of webhooks in one read. */
const PAGE = 100;

export interface DispatcherOptions {
  db: Queries & Writer & Notifier;
  tail: EventTail;
  clock: Clock;
  endpoints: Endpoints;
  connections: ConnectionLimits;
  readStandings: ReadStandings;
  /** The source of events. */
  source: string;
  /** How long an attempt may take, in milliseconds. */
  timeout: number;
  /** How long running attempts may take when the service shuts down, in milliseconds. */
  shutdownTimeout: number;
  /** Returns a number from 0 to 1. */
  random: () => number;
  /** Records each attempt if spans are exported. */
  tracing?: Tracing | undefined;
  /** `traceId` is the trace of the event whose delivery was the reason. */
  onDisabled: (webhookId: number, reason: string, traceId?: string) => void;
  /** Called after each attempt that was not aborted. */
  onAttempt: (result: AttemptResult) => void;
  onError: (error: unknown) => void;
}

/**
 * Sends due deliveries to the endpoints of webhooks. Each process has one dispatcher; they share the work through the store. It
 * looks for webhooks with work, and does not wait for their lanes: a slow endpoint delays only its own deliveries.
 */
export class WebhookDispatcher {
  readonly #options: DispatcherOptions;
  readonly #sender: Sender;
  /** By ID and URL: a webhook gets a new lane when its URL changes. */
  readonly #lanes = new Map<string, Lane>();
  #timer: NodeJS.Timeout | undefined;
  #unfollow: (() => void) | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  #emptyRounds = IDLE_AFTER;
  #started = false;
  #closed = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#sender = new Sender(options);
    options.db.onNotice(WEBHOOKS_CHANGED, () => this.wake());
  }

  start(): void {
    this.#started = true;
    this.#look();
  }

  /** Looks for work at once, because this process changed a webhook or its deliveries. */
  wake(): void {
    if (!this.#started) return;
    this.#emptyRounds = 0;
    for (const lane of this.#lanes.values()) lane.forgetFull();
    this.#look();
  }

  /** Sends all due deliveries, and those that become due as a result. */
  async runDue(): Promise<void> {
    let hasWorked: boolean;
    do {
      await this.#running;
      for (const lane of this.#lanes.values()) lane.forgetFull();
      await this.#round();
      await this.#whenIdle();
      hasWorked = [...this.#lanes.values()].filter(lane => lane.takeWorked()).length > 0;
    } while (!this.#closed && (hasWorked || this.#running));
  }

  /** Starts no more attempts. Attempts that do not end within `shutdownTimeout` are aborted and left to other replicas. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#unfollow?.();
    await this.#running;
    for (const lane of this.#lanes.values()) lane.stop();
    const timer = setTimeout(() => {
      this.#sender.abort();
      for (const lane of this.#lanes.values()) lane.giveUp();
    }, this.#options.shutdownTimeout);
    await this.#whenIdle();
    clearTimeout(timer);
    this.#sender.close();
  }

  /** Resolves when all lanes are idle. */
  async #whenIdle(): Promise<void> {
    for (;;) {
      const busy = [...this.#lanes.values()].filter(lane => !lane.isIdle);
      if (busy.length === 0) return;
      await Promise.all(busy.map(lane => lane.whenIdle()));
    }
  }

  #look(): void {
    if (this.#closed) return;
    this.#again = true;
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    clearTimeout(this.#timer);
    while (this.#again && !this.#closed) {
      this.#again = false;
      try {
        const found = await this.#round();
        this.#emptyRounds = found ? 0 : this.#emptyRounds + 1;
      } catch (error) {
        this.#options.onError(error);
      }
    }
    this.#running = undefined;
    if (!this.#closed) this.#sleep();
  }

  /** Schedules the next round. While there are no webhooks, the interval is long and the dispatcher does not follow the log. */
  #sleep(): void {
    const isActive = this.#emptyRounds < IDLE_AFTER;
    if (isActive) this.#unfollow ??= this.#options.tail.follow(() => this.#look());
    else {
      this.#unfollow?.();
      this.#unfollow = undefined;
    }
    this.#timer = setTimeout(() => this.#look(), isActive ? ACTIVE_INTERVAL : IDLE_INTERVAL);
    this.#timer.unref();
  }

  /** Makes the lanes of all enabled webhooks look for work, and stops the other lanes. Returns whether a webhook is enabled. */
  async #round(): Promise<boolean> {
    const before = [...this.#lanes];
    const active = new Set<number>();
    const looked = new Set<string>();
    for await (const page of this.#pages()) {
      const [{ latest }, allowed] = await Promise.all([selectEnds(this.#options.db), this.#allowed(page)]);
      if (this.#closed) return true;
      for (const { webhook, scopes } of allowed) {
        const key = `${webhook.id} ${webhook.url}`;
        active.add(webhook.id);
        looked.add(key);
        const lane = this.#lanes.get(key) ?? new Lane(webhook, { ...this.#options, sender: this.#sender });
        this.#lanes.set(key, lane);
        lane.look(webhook, scopes, latest);
      }
    }
    for (const [key, lane] of before) {
      if (looked.has(key)) continue;
      lane.stop();
      if (!active.has(lane.webhookId)) this.#sender.abort(lane.webhookId);
      if (lane.isIdle) this.#lanes.delete(key);
    }
    return active.size > 0;
  }

  /** Yields the enabled webhooks in pages. */
  async *#pages(): AsyncGenerator<ActiveWebhook[]> {
    let last = 0;
    for (;;) {
      const page = await selectActiveWebhooks(this.#options.db, last, PAGE);
      if (page.length > 0) yield page;
      const next = page.at(PAGE - 1);
      if (!next) return;
      last = next.id;
      // Reads of the embedded store block the event loop.
      await nextTurn();
    }
  }

  /** Returns the webhooks whose keys may have events sent, with the scopes of these keys, and disables the others. */
  async #allowed(
    webhooks: readonly ActiveWebhook[],
  ): Promise<{ webhook: ActiveWebhook; scopes: ReadonlySet<Scope> }[]> {
    const { db, clock, readStandings, onDisabled } = this.#options;
    const now = clock.now();
    const owners = [...new Set(webhooks.map(({ api_key_id }) => api_key_id))];
    const standings = await readStandings(db, owners, now);
    const allowed = [];
    for (const webhook of webhooks) {
      const owner = standings.get(webhook.api_key_id)!;
      if (!problemOf(webhook, owner, now)) allowed.push({ webhook, scopes: owner.scopes });
      else {
        const reason = await disableUnlessAllowed(db, webhook.id, { readStandings, now });
        if (reason !== undefined) onDisabled(webhook.id, reason);
      }
    }
    return allowed;
  }
}
