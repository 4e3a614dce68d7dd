import { setTimeout as sleep } from 'node:timers/promises';
import type { Queries, Writer } from '../../db/database.ts';
import { type Clock, SECOND } from '../../kit/clock.ts';
import { type Destination, hostOf, type Waiter } from './connections.ts';
import type { LeasedDelivery } from './delivery-queries.ts';
import {
  type Claim,
  type Ended,
  exchange,
  LEASE,
  latestRight,
  makeDueAgain,
  STORED_AT_ONCE,
} from './exchange.ts';
import { PLANNED_AT_ONCE, plan } from './outbox.ts';
import type { ReadStandings } from './owners.ts';
import { mostAtOnce, Pace } from './pace.ts';
import type { Sender } from './sender.ts';
import type { ActiveWebhook } from './webhook-queries.ts';

/** How long a full window is left alone unless deliveries end here, in milliseconds: others may end at another replica. */
const LOOK_AT_FULL = SECOND;

/** How long to leave a webhook alone that another transaction has, in milliseconds: at least, and how much longer at most. */
const TAKEN = { atLeast: 5, more: 20 };

/** How often a webhook that is taken is tried when the process is to end. */
const TRIES_AT_END = 20;

export interface LaneOptions {
  db: Queries & Writer;
  clock: Clock;
  sender: Sender;
  readStandings: ReadStandings;
  /** `traceId` is that of the event whose delivery was the reason. */
  onDisabled: (webhookId: number, reason: string, traceId?: string) => void;
  onError: (error: unknown) => void;
}

/**
 * Serves one webhook: plans its deliveries, claims and begins them, and stores what became of them, one transaction after
 * another. What ends while one of them runs goes into the next together. No lane waits for another, nor for a lock.
 */
export class Lane {
  readonly #options: LaneOptions;
  readonly #pace = new Pace();
  readonly #waiter: Waiter;
  #webhook: ActiveWebhook;
  #running: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  /** Attempts under way. */
  #sending = 0;
  #ended: Ended[] = [];
  /** What was claimed ahead and waits for a connection. */
  #claimed: { claim: Claim; delivery: LeasedDelivery }[] = [];
  /** Connections that were taken for it and carry nothing yet. */
  #connections = 0;
  #isBehind = false;
  #mayBeDue = false;
  /** When the window was found to be full, on the clock of `performance`, and how many deliveries have ended since. */
  #full: { since: number; ended: number } | undefined;
  #hasWorked = false;
  /** How often it may still find the webhook taken. */
  #tries = Number.POSITIVE_INFINITY;
  readonly #onEnd: (() => void)[] = [];

  constructor(webhook: ActiveWebhook, options: LaneOptions) {
    this.#webhook = webhook;
    this.#options = options;
    this.#waiter = {
      destination: destinationOf(webhook),
      onTaken: () => {
        this.#connections++;
        this.#beginClaimed();
        if (this.#connections > 0) this.#run();
      },
    };
  }

  /** Does what there is to do now for a webhook as it was just read. `latest` is the last event of the log. */
  look(webhook: ActiveWebhook, latest: number): void {
    this.#webhook = webhook;
    this.#stopped = false;
    const now = this.#options.clock.now();
    if (webhook.position < latest) this.#isBehind = true;
    if (webhook.due_at !== null && webhook.due_at <= now) this.#mayBeDue = true;
    if (this.#isBehind || this.#mayBeDue || this.#isAhead(now)) this.#run();
  }

  get webhookId(): number {
    return this.#webhook.id;
  }

  /** Claims nothing any more, and gives back what was not begun. What was begun ends, and is stored. */
  stop(): void {
    this.#stopped = true;
    this.#options.sender.connections.stopWaiting(this.#waiter);
    for (const { delivery } of this.#claimed.splice(0)) this.#ended.push({ delivery, attempted: undefined });
    if (this.#ended.length > 0) this.#run();
  }

  /** Whether nothing is under way. It may wait for a connection, which another lane has. */
  get isAtRest(): boolean {
    return this.#running === undefined && this.#sending === 0;
  }

  /** Resolves when what is done at the moment is done. */
  async rest(): Promise<void> {
    await this.#running;
    if (this.#sending > 0) await new Promise<void>(resolve => this.#onEnd.push(resolve));
    await this.#running;
  }

  /** Tries only a few times more to store what ended: the process is to end. */
  giveUp(): void {
    this.#tries = TRIES_AT_END;
  }

  /** Returns whether there was something to do since the last call. */
  takeWorked(): boolean {
    const hasWorked = this.#hasWorked;
    this.#hasWorked = false;
    return hasWorked;
  }

  /** Looks at a full window again at once. */
  forgetFull(): void {
    this.#full = undefined;
  }

  #run(): void {
    this.#again = true;
    this.#running ??= this.#work();
  }

  async #work(): Promise<void> {
    // What ends in the same turn comes together.
    await Promise.resolve();
    while (this.#again) {
      this.#again = false;
      try {
        await this.#pass();
      } catch (error) {
        // What ended is sent again when its leases are over.
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
      if (outcome === 'taken') return this.#comeBack();
      this.#webhook = { ...this.#webhook, last_due_at: null, leased_until: null };
      this.#mayBeDue = true;
    }
    if (!(await this.#exchange())) return this.#comeBack();
    if (!(await this.#plan())) return this.#comeBack();
  }

  /** Another transaction has the webhook. */
  async #comeBack(): Promise<void> {
    this.#tries--;
    if (this.#tries < 0) return;
    this.#again = true;
    await sleep(TAKEN.atLeast + TAKEN.more * Math.random());
  }

  /** Returns false when the webhook is taken. */
  async #plan(): Promise<boolean> {
    if (this.#stopped || !this.#isBehind || this.#isFull()) return true;
    const { db, clock, readStandings } = this.#options;
    const outcome = await plan(db, this.#webhook.id, { readStandings, now: clock.now() });
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
    return performance.now() - since < LOOK_AT_FULL && ended < PLANNED_AT_ONCE;
  }

  /** Stores what has ended, and claims what there are connections for, and some ahead. Returns false when it is taken. */
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
      // Fewer than could be sent are all that are due.
      if (limit > 0) this.#mayBeDue = deliveries.length === limit;
      if (claim) {
        for (const delivery of deliveries) this.#claimed.push({ claim, delivery });
        this.#webhook = { ...this.#webhook, failing_since: claim.webhook.failing_since };
      }
      if (deliveries.length > 0 || ended.length > 0) this.#hasWorked = true;
      // There may be more of both than fits into one transaction.
      if (this.#ended.length > 0 || (this.#mayBeDue && deliveries.length > 0)) this.#again = true;
    } finally {
      if (this.#stopped) this.stop();
      this.#beginClaimed();
      this.#freeUnused();
    }
    return true;
  }

  /** How many deliveries to claim. It takes connections for them, and queues for one when there is none. */
  #limit(): number {
    if (this.#stopped || !this.#mayBeDue) {
      this.#freeUnused();
      return 0;
    }
    this.#takeConnections(this.#mostAtOnce() - this.#sending);
    // What is claimed ahead waits for connections that its own webhook has.
    const isServed = this.#sending + this.#connections > 0;
    const ahead = isServed && this.#webhook.failing_since === null ? this.#pace.ahead : 0;
    return Math.min(STORED_AT_ONCE, this.#connections + Math.max(0, ahead - this.#claimed.length));
  }

  #mostAtOnce(): number {
    return mostAtOnce(this.#webhook, this.#pace.atOnce);
  }

  /** Takes connections until there are so many that carry nothing, or queues for one when there is none. */
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

  /** Begins what was claimed, as far as there are connections. What waited for one too long is given back. */
  #beginClaimed(): void {
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
      this.#options.sender.begin(claim, delivery, this.#waiter.destination, one => this.#end(one));
    }
  }

  /** There may be a connection, room in the window, or a delivery that waited for this one. */
  #end(ended: Ended): void {
    this.#sending--;
    this.#ended.push(ended);
    this.#mayBeDue = true;
    if (this.#full) this.#full.ended++;
    if (ended.attempted) this.#pace.adapt(ended.attempted.outcome);
    this.#beginClaimed();
    this.#run();
    if (this.#sending === 0) for (const resolve of this.#onEnd.splice(0)) resolve();
  }

  /** Whether a lease or a next attempt lies where only a clock that ran ahead can have put it. */
  #isAhead(now: number): boolean {
    const { lease, attempt } = latestRight(now);
    const { leased_until, last_due_at } = this.#webhook;
    return (leased_until ?? 0) > lease || (last_due_at ?? 0) > attempt;
  }
}

function destinationOf({ url, api_key_id }: ActiveWebhook): Destination {
  return { host: hostOf(url), keyId: api_key_id };
}
