import { setTimeout as sleep } from 'node:timers/promises';
import type { Scope } from '../../contract/scopes.ts';
import type { Queries, Writer } from '../../db/database.ts';
import { type Clock, SECOND } from '../../kit/clock.ts';
import { type Destination, hostOf, type Waiter } from './connections.ts';
import type { LeasedDelivery } from './delivery-queries.ts';
import {
  type Claim,
  type Ended,
  exchange,
  LEASE,
  latestPlausible,
  makeDueAgain,
  STORED_AT_ONCE,
} from './exchange.ts';
import { PLANNED_AT_ONCE, plan } from './outbox.ts';
import type { ReadStandings } from './owners.ts';
import { mostAtOnce, Pace } from './pace.ts';
import type { Sender } from './sender.ts';
import type { ActiveWebhook } from './webhook-queries.ts';

/** How long the lane waits before it checks a full window again, in milliseconds: other replicas may finish deliveries. */
const FULL_INTERVAL = SECOND;

/** The pause before a locked webhook is tried again, in milliseconds: the minimum, and the maximum that is added at random. */
const LOCKED_PAUSE = { atLeast: 5, more: 20 };

/** The number of times that a locked webhook is tried at shutdown. */
const TRIES_AT_SHUTDOWN = 20;

export interface LaneOptions {
  db: Queries & Writer;
  clock: Clock;
  sender: Sender;
  readStandings: ReadStandings;
  /** The source of events. */
  source: string;
  /** `traceId` is the trace of the event whose delivery was the reason. */
  onDisabled: (webhookId: number, reason: string, traceId?: string) => void;
  onError: (error: unknown) => void;
}

/**
 * Serves one webhook: plans its deliveries, claims and sends them, and stores their outcomes, in one transaction after another.
 * Attempts that end during a transaction are stored together in the next. A lane never waits for another lane or for a lock.
 */
export class Lane {
  readonly #options: LaneOptions;
  readonly #pace = new Pace();
  readonly #waiter: Waiter;
  #webhook: ActiveWebhook;
  #running: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  /** The number of running attempts. */
  #sending = 0;
  #ended: Ended[] = [];
  /** Deliveries that were claimed ahead and wait for a connection. */
  #claimed: { claim: Claim; delivery: LeasedDelivery }[] = [];
  /** Connections that were taken and are not in use yet. */
  #connections = 0;
  #isBehind = false;
  #mayBeDue = false;
  /** When the window was full, by `performance.now()`, and how many deliveries have ended since. */
  #full: { since: number; ended: number } | undefined;
  #hasWorked = false;
  /** How many more times the webhook may be locked. */
  #tries = Number.POSITIVE_INFINITY;
  readonly #onEnd: (() => void)[] = [];

  constructor(webhook: ActiveWebhook, options: LaneOptions) {
    this.#webhook = webhook;
    this.#options = options;
    this.#waiter = {
      destination: destinationOf(webhook),
      onTaken: () => {
        this.#connections++;
        this.#sendClaimed();
        if (this.#connections > 0) this.#run();
      },
    };
  }

  /** Starts the work for a webhook, which was just read with the scopes of its key. `latest` is the last event of the log. */
  look(webhook: ActiveWebhook, scopes: ReadonlySet<Scope>, latest: number): void {
    this.#webhook = webhook;
    this.#stopped = false;
    // Deliveries that wait for a connection were claimed with the scopes of that time, which may allow more.
    if (this.#claimed.some(({ claim }) => claim.scopes.symmetricDifference(scopes).size > 0))
      this.#returnClaimed();
    const now = this.#options.clock.now();
    if (webhook.position < latest) this.#isBehind = true;
    if (webhook.due_at !== null && webhook.due_at <= now) this.#mayBeDue = true;
    if (this.#isBehind || this.#mayBeDue || this.#isAhead(now)) this.#run();
  }

  get webhookId(): number {
    return this.#webhook.id;
  }

  /** Claims no more deliveries and returns those that were not started. Running attempts continue, and their outcomes are stored. */
  stop(): void {
    this.#stopped = true;
    this.#options.sender.connections.stopWaiting(this.#waiter);
    this.#returnClaimed();
  }

  #returnClaimed(): void {
    for (const { delivery } of this.#claimed.splice(0)) this.#ended.push({ delivery, attempted: undefined });
    if (this.#ended.length > 0) this.#run();
  }

  /** Whether neither a transaction nor an attempt is running. An idle lane can wait for a connection. */
  get isIdle(): boolean {
    return this.#running === undefined && this.#sending === 0;
  }

  /** Resolves when the work that is running now has finished. */
  async whenIdle(): Promise<void> {
    await this.#running;
    if (this.#sending > 0) await new Promise<void>(resolve => this.#onEnd.push(resolve));
    await this.#running;
  }

  /** Limits the tries to store outcomes, because the process is shutting down. */
  giveUp(): void {
    this.#tries = TRIES_AT_SHUTDOWN;
  }

  /** Returns whether the lane has done any work since the last call. */
  takeWorked(): boolean {
    const hasWorked = this.#hasWorked;
    this.#hasWorked = false;
    return hasWorked;
  }

  /** Checks a full window again at once. */
  forgetFull(): void {
    this.#full = undefined;
  }

  #run(): void {
    this.#again = true;
    this.#running ??= this.#work();
  }

  async #work(): Promise<void> {
    // Attempts that end in the same turn are stored together.
    await Promise.resolve();
    while (this.#again) {
      this.#again = false;
      try {
        await this.#pass();
      } catch (error) {
        // Deliveries whose outcomes were not stored are sent again after their leases expire.
        this.#options.onError(error);
      }
    }
    this.#running = undefined;
  }

  async #pass(): Promise<void> {
    const { db, clock } = this.#options;
    const { id } = this.#webhook;
    if (!this.#stopped && this.#isAhead(clock.now())) {
      const outcome = await makeDueAgain(db, id, clock.now());
      if (outcome === 'taken') return this.#retryLater();
      this.#webhook = { ...this.#webhook, last_due_at: null, leased_until: null };
      this.#mayBeDue = true;
    }
    if (!(await this.#exchange())) return this.#retryLater();
    if (!(await this.#plan())) return this.#retryLater();
  }

  /** Tries again after a pause, because another transaction has locked the webhook. */
  async #retryLater(): Promise<void> {
    this.#tries--;
    if (this.#tries < 0) return;
    this.#again = true;
    await sleep(LOCKED_PAUSE.atLeast + LOCKED_PAUSE.more * Math.random());
  }

  /** Returns false if another transaction has locked the webhook. */
  async #plan(): Promise<boolean> {
    if (this.#stopped || !this.#isBehind || this.#isFull()) return true;
    const { db, clock, readStandings, source } = this.#options;
    const outcome = await plan(db, this.#webhook.id, { readStandings, now: clock.now(), source });
    if (outcome === 'taken') return false;
    if (outcome === 'full') this.#full = { since: performance.now(), ended: 0 };
    if (outcome === 'idle') this.#isBehind = false;
    if (outcome !== 'moved') return true;
    this.#hasWorked = true;
    this.#mayBeDue = true;
    this.#again = true;
    return true;
  }

  #isFull(): boolean {
    if (!this.#full) return false;
    const { since, ended } = this.#full;
    return performance.now() - since < FULL_INTERVAL && ended < PLANNED_AT_ONCE;
  }

  /**
   * Stores the outcomes of ended attempts, and claims deliveries for the available connections and some ahead. Returns false
   * if another transaction has locked the webhook.
   */
  async #exchange(): Promise<boolean> {
    const { db, clock, readStandings, onDisabled } = this.#options;
    const webhook = this.#webhook;
    const limit = this.#limit();
    const ended = this.#ended.splice(0, STORED_AT_ONCE);
    if (ended.length === 0 && limit === 0) return true;
    try {
      const atOnce = this.#pace.atOnce + this.#pace.ahead;
      const own = this.#sending + this.#claimed.length;
      const options = { readStandings, now: clock.now(), ended, limit, atOnce, own };
      const exchanged = await exchange(db, webhook, options);
      if (exchanged === 'taken') {
        this.#ended.unshift(...ended);
        return false;
      }
      const { claim, disabled } = exchanged;
      if (disabled) onDisabled(webhook.id, disabled.reason, disabled.traceId);
      const deliveries = claim?.deliveries ?? [];
      // Fewer deliveries than requested means that no more are due.
      if (limit > 0) this.#mayBeDue = deliveries.length === limit;
      if (claim) {
        for (const delivery of deliveries) this.#claimed.push({ claim, delivery });
        this.#webhook = { ...this.#webhook, failing_since: claim.webhook.failing_since };
      }
      if (deliveries.length > 0 || ended.length > 0) this.#hasWorked = true;
      // There may be more outcomes or due deliveries than fit into one transaction.
      if (this.#ended.length > 0 || (this.#mayBeDue && deliveries.length > 0)) this.#again = true;
    } finally {
      if (this.#stopped) this.stop();
      this.#sendClaimed();
      this.#freeUnused();
    }
    return true;
  }

  /** Returns how many deliveries to claim, and takes connections for them or queues for one. */
  #limit(): number {
    if (this.#stopped || !this.#mayBeDue) {
      this.#freeUnused();
      return 0;
    }
    this.#takeConnections(this.#mostAtOnce() - this.#sending);
    // Deliveries are claimed ahead only while this webhook has connections that they can use next.
    const isServed = this.#sending + this.#connections > 0;
    const ahead = isServed && this.#webhook.failing_since === null ? this.#pace.ahead : 0;
    return Math.min(STORED_AT_ONCE, this.#connections + Math.max(0, ahead - this.#claimed.length));
  }

  #mostAtOnce(): number {
    return mostAtOnce(this.#webhook, this.#pace.atOnce);
  }

  /** Takes connections until `wanted` of them are unused, or queues for one if none is free. */
  #takeConnections(wanted: number): void {
    const { connections } = this.#options.sender;
    const { destination } = this.#waiter;
    const more = wanted - this.#connections;
    if (more > 0) this.#connections += connections.take(destination, more);
    if (this.#connections === 0 && wanted > 0) connections.wait(this.#waiter);
  }

  #freeUnused(): void {
    const unused = this.#connections;
    this.#connections = 0;
    if (unused > 0) this.#options.sender.connections.free(this.#waiter.destination, unused);
  }

  /** Sends claimed deliveries while there are connections. Deliveries that waited too long for one are returned. */
  #sendClaimed(): void {
    if (this.#claimed.length === 0) return;
    const latest = this.#options.clock.now() + LEASE / 2;
    this.#takeConnections(Math.min(this.#claimed.length, this.#mostAtOnce() - this.#sending));
    while (this.#connections > 0) {
      const next = this.#claimed.shift();
      if (!next) break;
      const { claim, delivery } = next;
      if (delivery.leased_until < latest) {
        this.#ended.push({ delivery, attempted: undefined });
        this.#run();
        continue;
      }
      this.#connections--;
      this.#sending++;
      this.#options.sender.begin(claim, delivery, this.#waiter.destination, ended => this.#onEnded(ended));
    }
  }

  /** Continues after an attempt: a connection is free, and another delivery may be due or fit into the window. */
  #onEnded(ended: Ended): void {
    this.#sending--;
    this.#ended.push(ended);
    this.#mayBeDue = true;
    if (this.#full) this.#full.ended++;
    if (ended.attempted) this.#pace.adapt(ended.attempted.outcome);
    this.#sendClaimed();
    this.#run();
    if (this.#sending === 0) for (const resolve of this.#onEnd.splice(0)) resolve();
  }

  /** Whether a lease or a next attempt is so late that a wrong clock must have set it. */
  #isAhead(now: number): boolean {
    const { lease, attempt } = latestPlausible(now);
    const { leased_until, last_due_at } = this.#webhook;
    return (leased_until ?? 0) > lease || (last_due_at ?? 0) > attempt;
  }
}

function destinationOf({ url, api_key_id }: ActiveWebhook): Destination {
  return { host: hostOf(url), keyId: api_key_id };
}
