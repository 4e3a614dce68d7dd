import { setTimeout as sleep } from 'node:timers/promises';
import type { Queries, Writer } from '../../db/database.ts';
import { type Clock, SECOND } from '../../kit/clock.ts';
import { type Destination, hostOf, type Waiter } from './connections.ts';
import { type Ended, exchange, latestRight, makeDueAgain, STORED_AT_ONCE } from './exchange.ts';
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
  onDisabled: (webhookId: number, reason: string) => void;
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
        this.#run();
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

  /** Claims nothing any more. What was begun ends, and is stored. */
  stop(): void {
    this.#stopped = true;
    this.#options.sender.connections.stopWaiting(this.#waiter);
  }

  /** Whether nothing is under way. It may wait for a connection. */
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

  /** Stores what has ended, and begins as many deliveries as there are connections for. Returns false when it is taken. */
  async #exchange(): Promise<boolean> {
    const { db, clock, readStandings, onDisabled } = this.#options;
    const webhook = this.#webhook;
    const destination = this.#waiter.destination;
    const limit = this.#takeConnections();
    const ended = this.#ended.splice(0, STORED_AT_ONCE);
    if (ended.length === 0 && limit === 0) return true;
    let begun = 0;
    try {
      const atOnce = this.#pace.atOnce;
      const options = { readStandings, now: clock.now(), ended, limit, atOnce };
      const exchanged = await exchange(db, webhook, options);
      if (exchanged === 'taken') {
        this.#ended.unshift(...ended);
        return false;
      }
      const { claim, disabled } = exchanged;
      if (disabled !== undefined) onDisabled(webhook.id, disabled);
      const deliveries = claim?.deliveries ?? [];
      // Fewer than could be sent are all that are due.
      if (limit > 0) this.#mayBeDue = deliveries.length === limit;
      for (const delivery of deliveries) {
        begun++;
        this.#sending++;
        this.#options.sender.begin(claim!, delivery, destination, one => this.#end(one));
      }
      if (claim) this.#webhook = { ...this.#webhook, failing_since: claim.webhook.failing_since };
      if (begun > 0 || ended.length > 0) this.#hasWorked = true;
    } finally {
      this.#options.sender.connections.free(destination, limit - begun);
    }
    // There may be more of both than fits into one transaction.
    if (this.#ended.length > 0 || (this.#mayBeDue && begun > 0)) this.#again = true;
    return true;
  }

  /** Takes connections for what may be due, and queues for one when there is none. Returns how many there are. */
  #takeConnections(): number {
    const { connections } = this.#options.sender;
    const wanted = mostAtOnce(this.#webhook, this.#pace.atOnce) - this.#sending;
    const given = this.#connections;
    this.#connections = 0;
    if (this.#stopped || !this.#mayBeDue || wanted <= 0) {
      connections.free(this.#waiter.destination, given);
      return 0;
    }
    const taken = given + connections.take(this.#waiter.destination, wanted - given);
    if (taken === 0) connections.wait(this.#waiter);
    return taken;
  }

  /** There may be a connection, room in the window, or a delivery that waited for this one. */
  #end(ended: Ended): void {
    this.#sending--;
    this.#ended.push(ended);
    this.#mayBeDue = true;
    if (this.#full) this.#full.ended++;
    if (ended.attempted) this.#pace.adapt(ended.attempted.outcome);
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
