import type { Scope } from '../../contract/scopes.ts';
import { SECOND } from '../../kit/clock.ts';
import type * as queries from './delivery-queries.ts';
import {
  type Ended,
  LEASE,
  latestPlausible,
  type Outcome,
  PLANNED_AT_ONCE,
  STORED_AT_ONCE,
} from './delivery-rules.ts';
import type { ActiveWebhook, WebhookRow } from './webhook-queries.ts';

/*
 * All rules of lanes: what a lane does next, and how many deliveries it sends at once. `lane.ts` executes what `decide` returns.
 * As in `delivery-rules.ts`, nothing here reads a clock, the store or a socket.
 */

/** The maximum number of deliveries that all replicas together send at once, before the endpoint has responded to any. */
export const INITIAL_CONCURRENCY = 8;

/** The maximum number of concurrent deliveries to an endpoint that responds quickly. */
export const MAX_CONCURRENCY = 64;

/** The maximum number of concurrent deliveries while attempts fail, so that a failing endpoint does not take many connections. */
export const FAILING_CONCURRENCY = 2;

/** Responses faster than `QUICK` raise the concurrency; those that take `SLOW` or longer lower it. */
const QUICK = SECOND / 4;
const SLOW = SECOND;

/** A delivery that this process has leased, with the webhook and the scopes of its key at that time. */
export interface Claimed {
  delivery: queries.LeasedDelivery;
  webhook: WebhookRow;
  scopes: ReadonlySet<Scope>;
}

/** The work of one transaction of a lane. */
export interface Request {
  /** The attempts whose outcomes it stores, at most `STORED_AT_ONCE`. */
  ended: readonly Ended[];
  /** Whether it plans deliveries. */
  plans: boolean;
  /** The number of connections that were taken for deliveries that it claims. */
  connections: number;
  /** The maximum number of deliveries that it claims, at most `STORED_AT_ONCE`. */
  limit: number;
  /** The maximum number of deliveries that all replicas together lease at once. */
  most: number;
  /** The number of deliveries that this process has leased. */
  own: number;
}

/** The result of a transaction. */
export interface Served {
  /** Undefined if nothing may be sent: the webhook is disabled or deleted, or it has another URL. */
  webhook: WebhookRow | undefined;
  isFull: boolean;
  claimed: Claimed[];
  /** Why the transaction disabled the webhook. */
  disabled: { reason: string; traceId: string | undefined } | undefined;
  /** Set if the webhook begins to fail or works again. */
  turn: Turn | undefined;
}

/** A webhook begins to fail, for a reason, or works again after it failed for some time, in milliseconds. */
export type Turn = { fails: true; reason: string } | { fails: false; failedFor: number };

/** The state of a lane, which serves one webhook in one process. */
export interface LaneState {
  webhook: ActiveWebhook;
  /** The last event of the log. */
  latest: number;
  /** Whether deliveries are planned and claimed. The attempts of a stopped lane end, and are stored. */
  isActive: boolean;
  /** Whether deliveries may be due. */
  hasDue: boolean;
  /** How many deliveries must end before a full window is checked again. */
  fullFor: number;
  /** Whether a transaction runs, or waits for a lock. */
  isBusy: boolean;
  pace: number;
  /** Deliveries that wait for a connection. */
  claimed: Claimed[];
  /** The number of running attempts. */
  sending: number;
  /** Attempts whose outcomes are not stored yet. */
  ended: Ended[];
}

export type Input =
  /** The webhook was read, and may be served. `rechecks` if a full window may have room, because other replicas also send. */
  | { type: 'read'; webhook: ActiveWebhook; latest: number; rechecks: boolean }
  | { type: 'stopped' }
  /** A connection was taken for the lane, which waited in the queue. */
  | { type: 'connected' }
  | { type: 'attempted'; ended: Ended }
  /** A transaction has ended; `served` is undefined if it failed. */
  | { type: 'served'; request: Request; served: Served | undefined };

/** What a lane must do. */
export interface Actions {
  /** Deliveries to send, each on a connection that was taken. */
  send: readonly Claimed[];
  /** A transaction to run. */
  request: Request | undefined;
  /** The number of connections to free. */
  unused: number;
  /** Whether the lane waits in the queue for a connection. */
  waits: boolean;
}

export function newLane(webhook: ActiveWebhook): LaneState {
  const counts = { latest: 0, fullFor: 0, pace: INITIAL_CONCURRENCY, sending: 0 };
  return { webhook, isActive: false, hasDue: false, isBusy: false, ...counts, claimed: [], ended: [] };
}

/** Whether neither a transaction nor an attempt runs. An idle lane can wait for a connection. */
export function isIdle({ isBusy, sending }: LaneState): boolean {
  return !isBusy && sending === 0;
}

/** Whether a lane can use a connection now: while a transaction runs, only for deliveries that it has claimed. */
export function canSend({ isBusy, claimed }: LaneState): boolean {
  return !isBusy || claimed.length > 0;
}

/**
 * Updates a lane after an input, and returns what it must do. `take` takes up to so many connections, and returns how many it got.
 * A lane first takes connections and then claims deliveries for them, so that no leased delivery waits while another replica could
 * send it. Only for a quick endpoint it also claims ahead, so that its connections do not wait for commits.
 */
export function decide(
  lane: LaneState,
  input: Input,
  now: number,
  take: (wanted: number) => number,
): Actions {
  update(lane, input, now);
  const mayClaim = lane.isActive && (lane.hasDue || mayPlan(lane) || lane.ended.length > 0);
  const room = Math.min(STORED_AT_ONCE, atMost(lane.webhook.failing_since, lane.pace) - lane.sending);
  const wanted = Math.max(0, mayClaim ? room : Math.min(room, lane.claimed.length));
  // A lane that may claim more after its transaction keeps its place in the queue until then.
  const usable = lane.isBusy ? Math.min(wanted, lane.claimed.length) : wanted;
  let connections = input.type === 'connected' ? 1 : input.type === 'served' ? input.request.connections : 0;
  if (connections < usable) connections += take(usable - connections);
  const send = nextToSend(lane, Math.min(connections, usable), now);
  connections -= send.length;
  const used = mayClaim ? Math.min(connections, usable - send.length) : 0;
  const request = lane.isBusy ? undefined : nextRequest(lane, mayClaim, used);
  const waits = wanted > send.length && connections === 0;
  return { send, request, unused: connections - used, waits };
}

/** Whether events must be planned, and the window may have room. */
function mayPlan({ isActive, webhook, latest, fullFor }: LaneState): boolean {
  return isActive && webhook.position < latest && fullFor === 0;
}

/** Returns the next transaction, with connections that were taken for it; `undefined` if there is nothing to do. */
function nextRequest(lane: LaneState, mayClaim: boolean, connections: number): Request | undefined {
  const { webhook, pace, sending, claimed } = lane;
  const ahead = pace > INITIAL_CONCURRENCY && webhook.failing_since === null ? pace : 0;
  const more = connections + sending > 0 ? Math.max(0, ahead - claimed.length) : 0;
  const limit = mayClaim ? Math.min(STORED_AT_ONCE, connections + more) : 0;
  const plans = mayPlan(lane);
  const ended = lane.ended.splice(0, STORED_AT_ONCE);
  if (ended.length === 0 && limit === 0 && !plans) return undefined;
  lane.isBusy = true;
  return { ended, plans, connections, limit, most: pace + ahead, own: sending + claimed.length };
}

/** Returns the next claimed deliveries. Those claimed more than a second ago are returned: the scopes of the key may have changed. */
function nextToSend(lane: LaneState, limit: number, now: number): readonly Claimed[] {
  const send: Claimed[] = [];
  while (send.length < limit && lane.claimed.length > 0) {
    const claim = lane.claimed.shift()!;
    if (claim.delivery.leased_until >= now + LEASE - SECOND) send.push(claim);
    else lane.ended.push({ delivery: claim.delivery, attempted: undefined });
  }
  lane.sending += send.length;
  return send;
}

function update(lane: LaneState, input: Input, now: number): void {
  switch (input.type) {
    case 'read':
      lane.webhook = input.webhook;
      lane.latest = input.latest;
      lane.isActive = true;
      lane.hasDue ||= mayBeDue(input.webhook, now);
      if (input.rechecks) lane.fullFor = 0;
      break;
    case 'stopped':
      stop(lane);
      break;
    case 'attempted':
      lane.sending--;
      lane.fullFor = Math.max(0, lane.fullFor - 1);
      lane.ended.push(input.ended);
      if (input.ended.attempted) lane.pace = paceAfter(lane.pace, input.ended.attempted.outcome);
      break;
    case 'served':
      afterTransaction(lane, input.request, input.served);
  }
}

function afterTransaction(lane: LaneState, request: Request, served: Served | undefined): void {
  lane.isBusy = false;
  if (!served) {
    // The next round tries again. Deliveries whose outcomes were not stored are sent again after their leases expire.
    lane.hasDue = false;
    lane.latest = 0;
    return;
  }
  const { webhook, isFull, claimed } = served;
  // Fewer deliveries than requested means that no more are due.
  lane.hasDue = claimed.length === request.limit;
  lane.claimed.push(...claimed);
  if (isFull) lane.fullFor = PLANNED_AT_ONCE;
  if (webhook) {
    const { position, failing_since } = webhook;
    lane.webhook = { ...lane.webhook, position, failing_since };
  }
  if (!webhook || !lane.isActive) stop(lane);
}

function stop(lane: LaneState): void {
  lane.isActive = false;
  for (const { delivery } of lane.claimed.splice(0)) lane.ended.push({ delivery, attempted: undefined });
}

function mayBeDue({ due_at, last_due_at, leased_until }: ActiveWebhook, now: number): boolean {
  const { lease, attempt } = latestPlausible(now);
  return (due_at ?? now + 1) <= now || (last_due_at ?? 0) > attempt || (leased_until ?? 0) > lease;
}

/**
 * Returns how many deliveries a process may claim. All replicas together send at most as many at once as the pace of this
 * one. But each may always send one: the other leases may belong to a replica that was killed.
 */
export function claimable(
  { failing_since }: WebhookRow,
  { limit, most, own }: Request,
  leased: number,
): number {
  const unleased = atMost(failing_since, most) - leased;
  return Math.max(0, Math.min(limit, own === 0 ? Math.max(1, unleased) : unleased));
}

/** Returns the pace after an attempt: one more after each quick response, and half as many after a failure. */
export function paceAfter(
  pace: number,
  { result, error, duration }: Pick<Outcome, 'result' | 'error' | 'duration'>,
): number {
  if (result === 'withheld') return pace;
  if (error !== null) return Math.max(FAILING_CONCURRENCY, Math.floor(pace / 2));
  if (duration < QUICK) return Math.min(MAX_CONCURRENCY, pace + 1);
  // A slow endpoint keeps the concurrency of a new one.
  return duration < SLOW ? pace : Math.min(pace, Math.max(INITIAL_CONCURRENCY, pace - 1));
}

function atMost(failingSince: number | null, pace: number): number {
  return failingSince === null ? pace : Math.min(pace, FAILING_CONCURRENCY);
}
