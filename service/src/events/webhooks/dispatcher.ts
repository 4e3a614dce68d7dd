import type { Queries, Writer } from '../../db/database.ts';
import { type Clock, SECOND } from '../../kit/clock.ts';
import { selectEnds } from '../event-log/event-queries.ts';
import type { EventTail } from '../event-log/event-tail.ts';
import { isConfidential } from '../event-log/event-types.ts';
import { attempt, type Outcome } from './attempt.ts';
import { messageId } from './delivery.ts';
import type { LeasedDelivery } from './delivery-queries.ts';
import type { Endpoints } from './endpoints.ts';
import { type Claim, claim, finish, giveBack, type IsAdministrator, plan } from './outbox.ts';
import { type ActiveWebhook, selectActiveWebhooks, type WebhookRow } from './webhook-queries.ts';

/** How often it is looked for what is due while there are webhooks, in milliseconds. */
const LOOK_FOR_DUE = SECOND;

/** How often it is looked for webhooks while there are none: another process may have got one. In milliseconds. */
const LOOK_FOR_WEBHOOKS = 30 * SECOND;

/** So many looks in a row that find no webhook, and it is only looked for one now and then. */
const LOOKS_IN_VAIN = 5;

export interface DispatcherOptions {
  db: Queries & Writer;
  tail: EventTail;
  clock: Clock;
  endpoints: Endpoints;
  isAdministrator: IsAdministrator;
  /** How long an attempt may take, in milliseconds. */
  timeout: number;
  /** How long attempts under way may take when the service is closed, in milliseconds. */
  patience: number;
  /** From 0 to 1. */
  random: () => number;
  onDisabled: (webhookId: number, reason: string) => void;
  onError: (error: unknown) => void;
}

/**
 * Sends what is due to the endpoints of webhooks. Each process has one; they share the work through the store. What is sent
 * is never waited for: an endpoint that takes its time holds up nothing but its own deliveries.
 */
export class WebhookDispatcher {
  readonly #options: DispatcherOptions;
  readonly #sending = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #unfollow: (() => void) | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  #inVain = LOOKS_IN_VAIN;
  #started = false;
  #closed = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  start(): void {
    this.#started = true;
    this.#look();
  }

  /** Something about webhooks was changed here, or is about to be. */
  wake(): void {
    if (!this.#started) return;
    this.#inVain = 0;
    this.#look();
  }

  /** Sends all that is due, and what becomes due by that. */
  async runDue(): Promise<void> {
    do {
      await this.#running;
      await this.#round();
      await Promise.all(this.#sending);
    } while (!this.#closed && (this.#running || this.#sending.size > 0 || (await this.#isBehind())));
  }

  /** Begins nothing any more. What is under way may end; then it is broken off, and left to other replicas. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#unfollow?.();
    await this.#running;
    const timer = setTimeout(() => this.#abort.abort(), this.#options.patience);
    await Promise.all(this.#sending);
    clearTimeout(timer);
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

  /** Until there are events or something is due; without webhooks for long, and deaf for events. */
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

  /** Plans and begins what there is to do now. Answers whether there are webhooks. */
  async #round(): Promise<boolean> {
    const { db, clock } = this.#options;
    const webhooks = await selectActiveWebhooks(db);
    if (webhooks.length === 0) return false;
    const { latest } = await selectEnds(db);
    for (const webhook of webhooks) {
      if (this.#closed) break;
      try {
        await this.#serve(webhook, latest, clock.now());
      } catch (error) {
        // The other webhooks are not to wait for it.
        this.#options.onError(error);
      }
    }
    return true;
  }

  async #serve({ id, position, due_at }: ActiveWebhook, latest: number, now: number): Promise<void> {
    const { db, isAdministrator } = this.#options;
    const isNew = position < latest;
    if (isNew) {
      await plan(db, id, { isAdministrator, now });
      // There may be more than fits into one transaction; the other webhooks come first.
      this.#again = true;
    }
    if (!isNew && (due_at === null || due_at > now)) return;
    const claimed = await claim(db, id, { isAdministrator, now });
    for (const delivery of claimed?.deliveries ?? []) this.#begin(claimed!, delivery, now);
  }

  #begin(claimed: Claim, delivery: LeasedDelivery, now: number): void {
    const sending = this.#send(claimed, delivery, now)
      .catch(this.#options.onError)
      .finally(() => {
        this.#sending.delete(sending);
        // What waited for this one may be due.
        if (this.#started) this.#look();
      });
    this.#sending.add(sending);
  }

  async #send(claimed: Claim, delivery: LeasedDelivery, startedAt: number): Promise<void> {
    const { db, clock, random, onDisabled } = this.#options;
    const isWithheld = isConfidential(delivery.type) && !claimed.isConfidant;
    const outcome = isWithheld ? withheld : await this.#attempt(claimed.webhook, delivery, startedAt);
    const now = clock.now();
    if (!outcome) return giveBack(db, delivery, now);
    const kind = isWithheld ? 'withheld' : delivery.event_id === null ? 'test' : 'event';
    const reason = await finish(db, delivery, { startedAt, outcome, random: random(), kind }, now);
    if (reason !== undefined) onDisabled(delivery.webhook_id, reason);
  }

  #attempt(webhook: WebhookRow, delivery: LeasedDelivery, now: number): Promise<Outcome | undefined> {
    const { endpoints, timeout } = this.#options;
    const message = {
      id: messageId(delivery),
      timestamp: Math.floor(now / SECOND),
      body: delivery.payload,
    };
    const target = { url: webhook.url, secrets: secretsOf(webhook, now) };
    return attempt(endpoints, target, message, { timeout, signal: this.#abort.signal });
  }

  async #isBehind(): Promise<boolean> {
    const { db, clock } = this.#options;
    const [webhooks, { latest }] = await Promise.all([selectActiveWebhooks(db), selectEnds(db)]);
    const now = clock.now();
    return webhooks.some(({ position, due_at }) => position < latest || (due_at !== null && due_at <= now));
  }
}

function secretsOf(
  { secret, previous_secret, previous_secret_expires_at: expiresAt }: WebhookRow,
  now: number,
): string[] {
  return previous_secret !== null && expiresAt! > now ? [secret, previous_secret] : [secret];
}

/** What was planned when the webhook still got events for administrators. */
const withheld: Outcome = {
  status: null,
  retryAfter: undefined,
  error: 'Not sent: the event is for administrators, and the webhook is no longer one’s',
  responseStart: null,
  duration: 0,
};
