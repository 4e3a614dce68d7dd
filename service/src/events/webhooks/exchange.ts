import type { Scope } from '../../contract/scopes.ts';
import type { Transaction, Writer } from '../../db/database.ts';
import { DAY, MINUTE, SECOND } from '../../kit/clock.ts';
import { traceOfEvent } from '../event-log/event.ts';
import type { Outcome } from './attempt.ts';
import {
  insertAttempts,
  readByIndex,
  releaseNextOf,
  selectHeld,
  updateDeliveries,
} from './delivery-batches.ts';
import {
  countLeased,
  type DeliveryRow,
  type DeliveryState,
  dueAgain,
  type LeasedDelivery,
  leaseDue,
} from './delivery-queries.ts';
import type { PlanOptions } from './outbox.ts';
import { problemOf, standingOf } from './owners.ts';
import { mostAtOnce } from './pace.ts';
import { LONGEST_PAUSE, nextAttemptAt } from './schedule.ts';
import { disableWebhook, selectUnlessTaken, updateFailingSince, type WebhookRow } from './webhook-queries.ts';

/** How long a delivery belongs to the replica that sends it, in milliseconds: four times the longest attempt. */
export const LEASE = 60 * SECOND;

/** How far the clocks of replicas may differ, in milliseconds. A replica with a wrong clock wrote any later time. */
const MAX_CLOCK_SKEW = MINUTE;

/** How long an endpoint may accept no delivery before its webhook is disabled, in milliseconds. */
const DISABLE_AFTER = 5 * DAY;

/** The maximum number of outcomes that one transaction stores, and the maximum number of deliveries that it claims. */
export const STORED_AT_ONCE = 64;

export interface Attempted {
  startedAt: number;
  outcome: Outcome;
  /** From 0 to 1: varies the pause before the next attempt. */
  random: number;
  /** Only events are retried, and only failures of events lead to disabling the webhook. */
  kind: 'event' | 'test' | 'withheld';
}

/** A delivery whose attempt has ended; `attempted` is undefined if it was not attempted or the attempt was aborted. */
export interface Ended {
  delivery: LeasedDelivery;
  attempted: Attempted | undefined;
}

export interface Claim {
  webhook: WebhookRow;
  deliveries: LeasedDelivery[];
  /** The scopes of its key, which determine what may be sent to it. */
  scopes: ReadonlySet<Scope>;
}

export interface ExchangeOptions extends PlanOptions {
  /** The attempts that have ended, at most `STORED_AT_ONCE`. */
  ended: readonly Ended[];
  /** The maximum number of deliveries to claim; it must not exceed `STORED_AT_ONCE`. */
  limit: number;
  /** The maximum number of deliveries leased at once, by all replicas together. */
  atOnce: number;
  /** The number of deliveries that this replica has leased. */
  own: number;
}

export interface Exchanged {
  /** Undefined if no delivery is due, enough are being sent, or the webhook was disabled or got another URL. */
  claim: Claim | undefined;
  disabled: Disabled | undefined;
}

/** The reason why the webhook was disabled. */
interface Disabled {
  reason: string;
  /** The trace of the event whose delivery was the reason, if there is one. */
  traceId: string | undefined;
}

/**
 * Stores the outcomes of attempts and leases due deliveries in one transaction; no other replica sends leased deliveries. The
 * next delivery of a subject is due when the one before it has finished. An outcome is ignored if the lease has expired.
 * Returns `taken`, and does nothing, if another transaction has locked the webhook.
 */
export function exchange(
  db: Writer,
  { id: webhookId, url }: Pick<WebhookRow, 'id' | 'url'>,
  { readStandings, now, ended, limit, atOnce, own }: ExchangeOptions,
): Promise<Exchanged | 'taken'> {
  return db.write(async tx => {
    const [, webhook] = await Promise.all([readByIndex(tx), selectUnlessTaken(tx, webhookId)]);
    if (webhook === 'taken') return 'taken';
    if (!webhook) return { claim: undefined, disabled: undefined };
    const { disabled, failingSince } = await store(tx, webhook, ended, now);
    const isServed = webhook.enabled === 1 && disabled === undefined && webhook.url === url;
    if (!isServed || limit === 0) return { claim: undefined, disabled };
    const [leased, owner] = await Promise.all([
      countLeased(tx, webhookId, now),
      standingOf(readStandings, tx, webhook.api_key_id, now),
    ]);
    const unleased = mostAtOnce({ failing_since: failingSince }, atOnce) - leased;
    // Each replica may always send one delivery: the other leases may belong to a replica that was killed.
    const room = Math.min(limit, own === 0 ? Math.max(1, unleased) : unleased);
    if (room <= 0 || problemOf(webhook, owner, now)) return { claim: undefined, disabled };
    const deliveries = await leaseDue(tx, webhookId, { now, until: now + LEASE, limit: room });
    const claimed = { ...webhook, failing_since: failingSince };
    return { claim: { webhook: claimed, deliveries, scopes: owner.scopes }, disabled };
  });
}

/** Returns the latest plausible end of a lease and time of a next attempt. Deliveries with later times are due. */
export function latestPlausible(now: number): { lease: number; attempt: number } {
  return { lease: now + LEASE + MAX_CLOCK_SKEW, attempt: now + LONGEST_PAUSE + MAX_CLOCK_SKEW };
}

/**
 * Makes some deliveries due whose lease or next attempt is so late that a wrong clock must have set it. Returns whether there
 * may be more, or `taken`.
 */
export function makeDueAgain(db: Writer, webhookId: number, now: number): Promise<boolean | 'taken'> {
  return db.write(async tx => {
    const webhook = await selectUnlessTaken(tx, webhookId);
    if (webhook === 'taken') return 'taken';
    const changed = await dueAgain(tx, webhookId, { ...latestPlausible(now), now, limit: STORED_AT_ONCE });
    return changed === STORED_AT_ONCE;
  });
}

interface Stored {
  disabled: Disabled | undefined;
  failingSince: number | null;
}

async function store(
  tx: Transaction,
  webhook: WebhookRow,
  ended: readonly Ended[],
  now: number,
): Promise<Stored> {
  let failingSince = webhook.failing_since;
  if (ended.length === 0) return { disabled: undefined, failingSince };
  const held = new Map(
    (
      await selectHeld(
        tx,
        ended.map(({ delivery: { id, leased_until } }) => ({ id, leased_until })),
      )
    ).map(row => [row.id, row]),
  );
  let stopped: Disabled | undefined;
  const attempts: Parameters<typeof insertAttempts>[1][number][] = [];
  const states: Parameters<typeof updateDeliveries>[1][number][] = [];
  const subjects = new Set<string>();
  for (const { delivery, attempted } of ended) {
    const row = held.get(delivery.id);
    // A delivery that was claimed again after its lease expired can appear twice.
    if (row?.leased_until !== delivery.leased_until) continue;
    const state = attempted ? stateAfter(row, attempted, now) : untried(row, now);
    const isWaiting = row.is_waiting === 1;
    states.push({ id: row.id, ...state, ...(isWaiting && { next_attempt_at: null }) });
    if (state.status !== 'pending' || isWaiting) subjects.add(row.subject);
    if (!attempted) continue;
    attempts.push(attemptRow(row, attempted));
    failingSince = failingAfter(failingSince, attempted);
    const isDead = attempted.kind === 'event' && state.status === 'dead';
    const reason = reasonToDisable(
      attempted.outcome,
      isDead && failingSince !== null ? now - failingSince : 0,
    );
    if (reason !== undefined) stopped ??= { reason, traceId: traceOfEvent(delivery.payload)?.traceId };
  }
  if (states.length === 0) return { disabled: undefined, failingSince };
  const disabled = webhook.enabled === 1 ? stopped : undefined;
  await Promise.all([
    insertAttempts(tx, attempts),
    updateDeliveries(tx, states),
    releaseNextOf(tx, webhook.id, [...subjects], now),
    failingSince !== webhook.failing_since && updateFailingSince(tx, webhook.id, failingSince),
    disabled && disableWebhook(tx, webhook.id, disabled.reason, now),
  ]);
  return { disabled, failingSince };
}

function attemptRow({ id, attempts }: DeliveryRow, { startedAt, outcome }: Attempted) {
  return {
    delivery_id: id,
    number: attempts + 1,
    started_at: startedAt,
    duration_ms: outcome.duration,
    status: outcome.status,
    error: outcome.error,
    response_start: outcome.responseStart,
  };
}

/** Returns since when no attempt has succeeded, after one more attempt. */
function failingAfter(before: number | null, { outcome, kind, startedAt }: Attempted): number | null {
  if (outcome.error === null) return null;
  return kind === 'event' ? (before ?? startedAt) : before;
}

/** Returns the state of a delivery that was not sent or whose outcome is unknown: it is due at once. */
function untried({ attempts, failures }: DeliveryRow, now: number): DeliveryState {
  return { status: 'pending', attempts, failures, next_attempt_at: now, finished_at: null };
}

function stateAfter(
  { attempts, failures }: DeliveryRow,
  { outcome, random, kind }: Attempted,
  now: number,
): DeliveryState {
  const tried = { attempts: attempts + 1, failures: failures + 1 };
  const finished = { next_attempt_at: null, finished_at: now };
  if (outcome.error === null) return { ...tried, failures, ...finished, status: 'delivered' };
  const next = kind === 'event' ? nextAttemptAt(tried.failures, outcome, now, random) : undefined;
  if (next === undefined) return { ...tried, ...finished, status: 'dead' };
  return { ...tried, status: 'pending', next_attempt_at: next, finished_at: null };
}

/** `failingFor` is how long no attempt has succeeded, in milliseconds, if a delivery is now dead; otherwise 0. */
function reasonToDisable({ status }: Outcome, failingFor: number): string | undefined {
  if (status === 410) return 'The endpoint returned status 410 (Gone)';
  if (failingFor >= DISABLE_AFTER)
    return `The endpoint has accepted no delivery for ${Math.floor(failingFor / DAY)} days`;
  return undefined;
}
