import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Queries, Writer } from '../../db/database.ts';
import { type Clock, SECOND } from '../../kit/clock.ts';
import type { Tracing } from '../../kit/tracing.ts';
import { selectEnds } from '../event-log/event-queries.ts';
import type { EventTail } from '../event-log/event-tail.ts';
import { type ConnectionLimits, Connections, hostOf } from './connections.ts';
import type { Endpoints } from './endpoints.ts';
import { claim, mostAtOnce, plan, stopUnlessAllowed } from './outbox.ts';
import type { ReadStandings } from './owners.ts';
import { breakOff, Sender } from './sender.ts';
import { type ActiveWebhook, selectActiveWebhooks } from './webhook-queries.ts';

/** How often the dispatcher looks for what is due while there are webhooks, in milliseconds. */
const LOOK_FOR_DUE = SECOND;

/** How often it looks for webhooks while there are none: another process may have got one. In milliseconds. */
const LOOK_FOR_WEBHOOKS = 30 * SECOND;

/** After so many looks in a row that find no webhook it looks for one only now and then. */
const LOOKS_IN_VAIN = 5;

/** Webhooks read at once. */
const PAGE = 100;

export interface DispatcherOptions {
  db: Queries & Writer;
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
  onError: (error: unknown) => void;
}

/**
 * Sends what is due to the endpoints of webhooks. Each process has one; they share the work through the store. It does not
 * wait for what it sends: a slow endpoint holds up only its own deliveries.
 */
export class WebhookDispatcher {
  readonly #options: DispatcherOptions;
  readonly #connections: Connections;
  readonly #sender: Sender;
  /** Webhooks that are planned as far ahead as they may be, and when that was found, on the clock of `performance`. */
  readonly #full = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;
  #unfollow: (() => void) | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  #inVain = LOOKS_IN_VAIN;
  /** The ID after which the next round begins: before the first webhook for which there was no connection. */
  #beginAfter = 0;
  #started = false;
  #closed = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#connections = new Connections(options.connections);
    this.#sender = new Sender({ ...options, connections: this.#connections });
  }

  start(): void {
    this.#started = true;
    this.#look();
  }

  /** Looks for work at once, because something about webhooks was changed here, or is about to be. */
  wake(): void {
    if (!this.#started) return;
    this.#inVain = 0;
    this.#full.clear();
    this.#look();
  }

  /** Sends all that is due, and what becomes due by that. */
  async runDue(): Promise<void> {
    let hasWorked: boolean;
    do {
      await this.#running;
      this.#full.clear();
      ({ hasWorked } = await this.#round());
      await this.#sender.idle();
    } while (!this.#closed && (hasWorked || this.#running || !this.#sender.isIdle));
  }

  /** Begins nothing any more. Attempts under way may end in time; the rest is broken off, and left to other replicas. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#unfollow?.();
    await this.#running;
    await this.#sender.close(this.#options.patience);
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
        const { found } = await this.#round();
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

  /**
   * Plans and begins what there is to do now, and breaks off attempts for webhooks that were stopped. Returns whether there
   * are webhooks, and whether there was something to do for them.
   */
  async #round(): Promise<{ found: boolean; hasWorked: boolean }> {
    const underWay = this.#sender.underWay();
    const active = new Set<number>();
    let hasWorked = false;
    for await (const page of this.#pages()) {
      const [{ latest }, allowed] = await Promise.all([selectEnds(this.#options.db), this.#allowed(page)]);
      for (const webhook of allowed) {
        if (this.#closed) return { found: true, hasWorked };
        active.add(webhook.id);
        try {
          if (await this.#serve(webhook, latest)) hasWorked = true;
        } catch (error) {
          // The other webhooks do not wait for it.
          this.#options.onError(error);
        }
      }
    }
    breakOff(underWay.filter(({ webhookId }) => !active.has(webhookId)));
    return { found: active.size > 0, hasWorked };
  }

  /** The webhooks that are enabled, each once, beginning with the first that got no connection in the round before. */
  async *#pages(): AsyncGenerator<ActiveWebhook[]> {
    const first = this.#beginAfter;
    this.#beginAfter = 0;
    const parts = [
      { after: first, upTo: Number.MAX_SAFE_INTEGER },
      { after: 0, upTo: first },
    ];
    for (const { after, upTo } of parts) {
      let last = after;
      while (last < upTo) {
        const read = await selectActiveWebhooks(this.#options.db, last, PAGE);
        const page = read.filter(({ id }) => id <= upTo);
        if (page.length > 0) yield page;
        last = page.length === PAGE ? page.at(-1)!.id : upTo;
        // Reads of the embedded store do not let other work run in between.
        if (last < upTo) await nextTurn();
      }
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

  /** Plans and begins what there is to do for a webhook. Returns whether there was something. */
  async #serve(webhook: ActiveWebhook, latest: number): Promise<boolean> {
    const { clock } = this.#options;
    const hasMoved = webhook.position < latest && (await this.#plan(webhook.id));
    // There may be more than fits into one transaction; the other webhooks come first.
    if (hasMoved) this.#again = true;
    const isDue = webhook.due_at !== null && webhook.due_at <= clock.now();
    if (!hasMoved && !isDue) return false;
    return (await this.#claim(webhook)) || hasMoved;
  }

  async #plan(webhookId: number): Promise<boolean> {
    const { db, clock, readStandings } = this.#options;
    const foundFull = this.#full.get(webhookId);
    if (foundFull !== undefined && performance.now() - foundFull < LOOK_FOR_DUE) return false;
    this.#full.delete(webhookId);
    const outcome = await plan(db, webhookId, { readStandings, now: clock.now() });
    if (outcome === 'full') this.#full.set(webhookId, performance.now());
    return outcome === 'moved';
  }

  /** Claims as many deliveries as there are connections for, and sends them. */
  async #claim(webhook: ActiveWebhook): Promise<boolean> {
    const { db, clock, readStandings } = this.#options;
    const destination = { host: hostOf(webhook.url), keyId: webhook.api_key_id };
    const wanted = mostAtOnce(webhook) - this.#sender.countOf(webhook.id);
    const connections = this.#connections.take(destination, wanted);
    if (connections === 0) {
      if (wanted > 0) this.#beginAfter ||= webhook.id - 1;
      return false;
    }
    let begun = 0;
    try {
      const claimed = await claim(db, webhook, { readStandings, now: clock.now(), limit: connections });
      for (const delivery of claimed?.deliveries ?? []) {
        this.#sender.begin(claimed!, delivery, destination, () => this.#ended(webhook.id));
        begun++;
      }
    } finally {
      this.#connections.free(destination, connections - begun);
    }
    return begun > 0;
  }

  /** There may be a connection, room in the window, or a delivery that waited for this one. */
  #ended(webhookId: number): void {
    this.#full.delete(webhookId);
    if (this.#started) this.#look();
  }
}
