import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Notifier, Queries, Writer } from '../../db/database.ts';
import { type Clock, SECOND } from '../../kit/clock.ts';
import type { Tracing } from '../../kit/tracing.ts';
import { selectEnds } from '../event-log/event-queries.ts';
import type { EventTail } from '../event-log/event-tail.ts';
import type { AttemptResult } from './attempt-results.ts';
import type { ConnectionLimits } from './connections.ts';
import type { Endpoints } from './endpoints.ts';
import { Lane } from './lane.ts';
import { stopUnlessAllowed } from './outbox.ts';
import type { ReadStandings } from './owners.ts';
import { Sender } from './sender.ts';
import { type ActiveWebhook, selectActiveWebhooks } from './webhook-queries.ts';

/** What transactions notify that change a webhook, or what is to be sent to it. */
export const WEBHOOKS_CHANGED = 'webhooks changed';

/** How often the dispatcher looks for what is due while there are webhooks, in milliseconds. */
const LOOK_FOR_DUE = SECOND;

/** How often it looks for webhooks while there are none: another process may have got one. In milliseconds. */
const LOOK_FOR_WEBHOOKS = 30 * SECOND;

/** After so many looks in a row that find no webhook it looks for one only now and then. */
const LOOKS_IN_VAIN = 5;

/** Webhooks read at once. */
const PAGE = 100;

export interface DispatcherOptions {
  db: Queries & Writer & Notifier;
  tail: EventTail;
  clock: Clock;
  endpoints: Endpoints;
  connections: ConnectionLimits;
  readStandings: ReadStandings;
  /** How long an attempt may take, in milliseconds. */
  timeout: number;
  /** How long attempts under way may take when the service is closed, in milliseconds. */
  patience: number;
  /** Returns a number from 0 to 1. */
  random: () => number;
  /** Records each attempt, while spans are exported. */
  tracing?: Tracing | undefined;
  /** `traceId` is that of the event whose delivery was the reason. */
  onDisabled: (webhookId: number, reason: string, traceId?: string) => void;
  /** An attempt has ended; not one that was broken off. */
  onAttempt: (result: AttemptResult) => void;
  onError: (error: unknown) => void;
}

/**
 * Sends what is due to the endpoints of webhooks. Each process has one; they share the work through the store. It looks for
 * webhooks that have something to do, and does not wait for their lanes: a slow endpoint holds up only its own deliveries.
 */
export class WebhookDispatcher {
  readonly #options: DispatcherOptions;
  readonly #sender: Sender;
  /** By ID and URL: a webhook that gets another URL gets another lane. */
  readonly #lanes = new Map<string, Lane>();
  #timer: NodeJS.Timeout | undefined;
  #unfollow: (() => void) | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  #inVain = LOOKS_IN_VAIN;
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

  /** Looks for work at once, because a webhook or its deliveries were changed here. */
  wake(): void {
    if (!this.#started) return;
    this.#inVain = 0;
    for (const lane of this.#lanes.values()) lane.forgetFull();
    this.#look();
  }

  /** Sends all that is due, and what becomes due by that. */
  async runDue(): Promise<void> {
    let hasWorked: boolean;
    do {
      await this.#running;
      for (const lane of this.#lanes.values()) lane.forgetFull();
      await this.#round();
      await this.#rest();
      hasWorked = [...this.#lanes.values()].filter(lane => lane.takeWorked()).length > 0;
    } while (!this.#closed && (hasWorked || this.#running));
  }

  /** Begins nothing any more. Attempts under way may end in time; the rest is broken off, and left to other replicas. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#unfollow?.();
    await this.#running;
    for (const lane of this.#lanes.values()) lane.stop();
    const timer = setTimeout(() => {
      this.#sender.breakOff();
      for (const lane of this.#lanes.values()) lane.giveUp();
    }, this.#options.patience);
    await this.#rest();
    clearTimeout(timer);
    this.#sender.close();
  }

  /** Resolves when no lane has anything under way. */
  async #rest(): Promise<void> {
    for (;;) {
      const busy = [...this.#lanes.values()].filter(lane => !lane.isAtRest);
      if (busy.length === 0) return;
      await Promise.all(busy.map(lane => lane.rest()));
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
        this.#inVain = found ? 0 : this.#inVain + 1;
      } catch (error) {
        this.#options.onError(error);
      }
    }
    this.#running = undefined;
    if (!this.#closed) this.#sleep();
  }

  /** Sleeps until there are events or something is due; without webhooks for long, and without following the log. */
  #sleep(): void {
    const isActive = this.#inVain < LOOKS_IN_VAIN;
    if (isActive) this.#unfollow ??= this.#options.tail.follow(() => this.#look());
    else {
      this.#unfollow?.();
      this.#unfollow = undefined;
    }
    this.#timer = setTimeout(() => this.#look(), isActive ? LOOK_FOR_DUE : LOOK_FOR_WEBHOOKS);
    this.#timer.unref();
  }

  /** Has the lanes of all webhooks look for work, and stops those of webhooks that were stopped. Returns whether there are any. */
  async #round(): Promise<boolean> {
    const before = [...this.#lanes];
    const active = new Set<number>();
    const looked = new Set<string>();
    for await (const page of this.#pages()) {
      const [{ latest }, allowed] = await Promise.all([selectEnds(this.#options.db), this.#allowed(page)]);
      if (this.#closed) return true;
      for (const webhook of allowed) {
        const key = `${webhook.id} ${webhook.url}`;
        active.add(webhook.id);
        looked.add(key);
        const lane = this.#lanes.get(key) ?? new Lane(webhook, { ...this.#options, sender: this.#sender });
        this.#lanes.set(key, lane);
        lane.look(webhook, latest);
      }
    }
    for (const [key, lane] of before) {
      if (looked.has(key)) continue;
      lane.stop();
      if (!active.has(lane.webhookId)) this.#sender.breakOff(lane.webhookId);
      if (lane.isAtRest) this.#lanes.delete(key);
    }
    return active.size > 0;
  }

  /** The webhooks that are enabled, some at a time. */
  async *#pages(): AsyncGenerator<ActiveWebhook[]> {
    let last = 0;
    for (;;) {
      const page = await selectActiveWebhooks(this.#options.db, last, PAGE);
      if (page.length > 0) yield page;
      const next = page.at(PAGE - 1);
      if (!next) return;
      last = next.id;
      // Reads of the embedded store do not let other work run in between.
      await nextTurn();
    }
  }

  /** Those of some webhooks whose owners may have events sent. The others are disabled. */
  async #allowed(webhooks: readonly ActiveWebhook[]): Promise<ActiveWebhook[]> {
    const { db, clock, readStandings, onDisabled } = this.#options;
    const now = clock.now();
    const owners = [...new Set(webhooks.map(({ api_key_id }) => api_key_id))];
    const standings = await readStandings(db, owners, now);
    const allowed: ActiveWebhook[] = [];
    for (const webhook of webhooks) {
      if (!standings.get(webhook.api_key_id)!.problem) allowed.push(webhook);
      else {
        const reason = await stopUnlessAllowed(db, webhook.id, { readStandings, now });
        if (reason !== undefined) onDisabled(webhook.id, reason);
      }
    }
    return allowed;
  }
}
