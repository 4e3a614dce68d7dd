import type { StoredEvent } from '../../db/database.ts';
import { DAY, HOUR, latestCredible, MINUTE, SECOND } from '../../kit/clock.ts';
import { inSymbols } from '../../kit/quantities.ts';
import { traceOfEvent } from '../event-log/event.ts';
import { type EventReader, ownKeyOf } from '../event-log/event-filter.ts';
import {
  type EventType,
  isLeakOf,
  isWarning,
  mayRead,
  readScopeOf,
  TEST_TYPE,
} from '../event-log/event-types.ts';
import type { AttemptRow } from './attempt-queries.ts';
import type * as queries from './delivery-queries.ts';
import type { OwnerProblem, OwnerStanding } from './owners.ts';
import type { WebhookRow } from './webhook-queries.ts';

/*
 * All rules of deliveries: what follows from a state, an input and the time. Nothing here reads a clock, the store or a socket.
 * `serve.ts` and `deliveries.ts` store what they return. `lane-rules.ts` decides when deliveries are planned, claimed and sent.
 * docs/decisions/0021-webhooks.md has the states. Times are in milliseconds, and instants since the Unix epoch.
 */

/** How long an endpoint may take to respond. */
export const RESPONSE_TIMEOUT = 15 * SECOND;

/** How long a delivery belongs to the process that sends it: four times the longest attempt. */
export const LEASE = 4 * RESPONSE_TIMEOUT;

/** How long an endpoint may accept no delivery before its webhook is disabled. */
const DISABLE_AFTER = 5 * DAY;

/** The maximum number of events that become deliveries in one transaction. */
export const PLANNED_AT_ONCE = 100;

/** The maximum number of outcomes that one transaction stores, and the maximum number of deliveries that it claims. */
export const STORED_AT_ONCE = 64;

/**
 * How many deliveries of a webhook are planned; later events stay in the log. The limit for due deliveries is low. The limit
 * that includes deliveries which wait for an earlier one or for a retry is higher, so that a failing subject does not block
 * the others.
 */
export const WINDOW = { untried: 500, pending: 5_000 } as const;

/** The backlog from which the window has no room for all events that one transaction plans. */
export const FULL_WINDOW: queries.Backlog = {
  untried: WINDOW.untried - PLANNED_AT_ONCE + 1,
  pending: WINDOW.pending - PLANNED_AT_ONCE + 1,
};

/** The pauses after failed attempts, as Standard Webhooks 1.0.0 suggests. */
const PAUSES = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map(hours => hours * HOUR)];

/** The pauses as text: `5 s, 5 min, … and 24 h`. */
export const SCHEDULE = PAUSES.map(inSymbols)
  .join(', ')
  .replace(/, (?=[^,]*$)/, ' and ');

/** The fraction by which a pause is at most shorter or longer, so that deliveries that failed together are retried apart. */
const JITTER = 0.2;

/** The longest wait that an endpoint can request. */
const LONGEST_WAIT = 24 * HOUR;

/** The statuses with which an endpoint can request a wait. */
const BUSY = new Set<number | null>([429, 503]);

/**
 * The result of an attempt: `rejected` if the endpoint returned an error status, `unreachable` if the connection failed,
 * `withheld` if nothing was sent.
 */
export type AttemptResult = 'delivered' | 'rejected' | 'timeout' | 'unreachable' | 'withheld';

export interface Outcome {
  result: AttemptResult;
  /** The status of the response; null if there was none. */
  status: number | null;
  /** The header `Retry-After`. */
  retryAfter: string | undefined;
  /** Why the attempt failed; null if it succeeded. */
  error: string | null;
  responseStart: string | null;
  duration: number;
}

export interface Attempted {
  startedAt: number;
  outcome: Outcome;
  /** From 0 to 1: varies the pause before the next attempt. */
  random: number;
}

/** A delivery that is no longer sent; `attempted` is undefined if it was not attempted or the attempt was aborted. */
export interface Ended {
  delivery: queries.LeasedDelivery;
  attempted: Attempted | undefined;
}

/** What ended attempts change. */
export interface Effects {
  webhook: WebhookRow;
  changes: queries.DeliveryChange[];
  attempts: AttemptRow[];
  /** The subjects whose first pending delivery is due now. */
  released: Set<string>;
  /** The error of the attempt with which the webhook began to fail. */
  failure: string | null;
  /** The trace of the event whose delivery disabled the webhook. */
  traceId: string | undefined;
}

/**
 * Returns when the deliveries of events are due. Only the first pending delivery of a subject is due; the others wait, with null.
 * `busy` has the subjects that have pending deliveries.
 */
export function firstAttempts(
  events: readonly Pick<StoredEvent, 'subject'>[],
  busy: ReadonlySet<string>,
  now: number,
): (number | null)[] {
  const taken = new Set(busy);
  return events.map(({ subject }) => {
    const waits = taken.has(subject);
    taken.add(subject);
    return waits ? null : now;
  });
}

/** Whether the window of a webhook has no room for all events that one transaction plans. */
export function isWindowFull({ untried, pending }: queries.Backlog): boolean {
  return untried >= FULL_WINDOW.untried || pending >= FULL_WINDOW.pending;
}

/** Returns the latest plausible end of a lease and time of a next attempt. A wrong clock wrote any later one: it is due. */
export function latestPlausible(now: number): { lease: number; attempt: number } {
  const longestPause = Math.max(...PAUSES.map(pause => pause * (1 + JITTER)), LONGEST_WAIT);
  return { lease: latestCredible(now + LEASE), attempt: latestCredible(now + longestPause) };
}

/** Why an event must not be sent to a webhook of a key with these scopes; `undefined` if it may be sent. */
export function withheldReason(
  event: Pick<queries.DeliveryRow, 'type' | 'subject'>,
  reader: EventReader,
): string | undefined {
  const { keyId, scopes } = reader;
  const { type, subject } = event;
  if (type === TEST_TYPE || isLeakOf(event, keyId)) return undefined;
  const ownKey = ownKeyOf(reader);
  const isOfOther = isWarning(type) && ownKey !== undefined && ownKey !== subject;
  if (!isOfOther && mayRead(scopes, type as EventType)) return undefined;
  const scope = isOfOther ? 'admin' : readScopeOf(type as EventType);
  return `the API key that created the webhook lacks the scope \`${scope}\` for events \`${type}\``;
}

/**
 * Returns what the ended attempts of a webhook change. `held` has the deliveries whose lease is still the one from their claim.
 * The outcome of an attempt whose lease has expired is ignored: another process may have the delivery.
 */
export function afterAttempts(
  webhook: WebhookRow,
  held: readonly queries.HeldDelivery[],
  ended: readonly Ended[],
  now: number,
): Effects {
  const rows = new Map(held.map(row => [row.id, row]));
  const effects: Effects = {
    webhook,
    changes: [],
    attempts: [],
    released: new Set(),
    failure: null,
    traceId: undefined,
  };
  for (const { delivery, attempted } of ended) {
    const row = rows.get(delivery.id);
    // A delivery that was claimed again after its lease expired can appear twice.
    if (row?.leased_until !== delivery.leased_until) continue;
    const change = attempted ? deliveryAfter(row, attempted, now) : { ...again(row), next_attempt_at: now };
    // A client has requested the redelivery of an earlier event, which comes first.
    const isPassed = row.has_earlier === 1;
    if (isPassed || change.status !== 'pending') effects.released.add(row.subject);
    effects.changes.push(isPassed ? { ...change, next_attempt_at: null } : change);
    if (!attempted) continue;
    const { startedAt, outcome } = attempted;
    effects.attempts.push({
      delivery_id: row.id,
      number: change.attempts,
      started_at: startedAt,
      duration_ms: outcome.duration,
      status: outcome.status,
      error: outcome.error,
      response_start: outcome.responseStart,
    });
    if (!isRetried(row, outcome)) continue;
    const next = webhookAfter(effects.webhook, change, attempted, now);
    if (effects.webhook.failing_since === null) effects.failure = outcome.error;
    if (next.enabled < effects.webhook.enabled) effects.traceId = traceOfEvent(delivery.payload)?.traceId;
    effects.webhook = next;
  }
  return effects;
}

function deliveryAfter(
  row: queries.DeliveryRow,
  { outcome, random }: Attempted,
  now: number,
): queries.DeliveryChange {
  const tried = { ...again(row), attempts: row.attempts + 1 };
  if (outcome.error === null) return { ...tried, status: 'delivered', finished_at: now };
  const failures = row.failures + 1;
  const next = isRetried(row, outcome) ? nextAttemptAt(failures, outcome, now, random) : undefined;
  if (next === undefined) return { ...tried, failures, status: 'dead', finished_at: now };
  return { ...tried, failures, next_attempt_at: next };
}

function webhookAfter(
  webhook: WebhookRow,
  { status }: queries.DeliveryChange,
  { outcome, startedAt }: Attempted,
  now: number,
): WebhookRow {
  const { failing_since } = webhook;
  // A clock that ran ahead may have stored a time in the future.
  const isCredible = failing_since !== null && failing_since <= latestCredible(now);
  const failingSince = isCredible ? failing_since : startedAt;
  const since = outcome.error === null ? null : failingSince;
  const next = since === failing_since ? webhook : { ...webhook, failing_since: since };
  const failingFor = status === 'dead' && since !== null ? now - since : 0;
  if (outcome.status === 410)
    return disabled(next, { reason: 'The endpoint returned status 410 (Gone)', since: now });
  if (failingFor < DISABLE_AFTER) return next;
  const days = Math.floor(failingFor / DAY);
  return disabled(next, { reason: `The endpoint has accepted no delivery for ${days} days`, since: now });
}

/** How long the last event of a webhook may be sent after its key has ended. */
const LAST_EVENT_TIME = HOUR;

/** Whether a webhook whose key has ended may still send its last event, and nothing else. */
export function maySendLast(
  { last_event_id }: Pick<WebhookRow, 'last_event_id'>,
  { ended }: OwnerStanding,
  now: number,
): boolean {
  return last_event_id !== null && ended !== undefined && now < ended.since + LAST_EVENT_TIME;
}

/** Returns a webhook that the service disables; one that is disabled already keeps its reason. */
export function disabled(webhook: WebhookRow, { reason, since }: OwnerProblem): WebhookRow {
  if (webhook.enabled === 0) return webhook;
  return { ...webhook, enabled: 0, disabled_reason: reason, disabled_at: since };
}

/** Tests and withheld events are attempted once, and do not change the state of their webhook. */
function isRetried({ type }: queries.DeliveryRow, { result }: Outcome): boolean {
  return type !== TEST_TYPE && result !== 'withheld';
}

/**
 * Returns the time of the next attempt after `failures` failed attempts; `undefined` at the end of the schedule. `random` is
 * from 0 to 1.
 */
export function nextAttemptAt(
  failures: number,
  { status, retryAfter }: Pick<Outcome, 'status' | 'retryAfter'>,
  now: number,
  random: number,
): number | undefined {
  const pause = PAUSES[failures - 1];
  if (pause === undefined) return undefined;
  const scheduled = now + Math.round(pause * (1 - JITTER + 2 * JITTER * random));
  return BUSY.has(status) ? Math.max(scheduled, instantIn(retryAfter, now)) : scheduled;
}

/** Returns the time in a `Retry-After`, which is in seconds or an HTTP-date (RFC 9110 §10.2.3); 0 if it is neither. */
function instantIn(retryAfter: string | undefined, now: number): number {
  if (retryAfter === undefined) return 0;
  const instant = /^\d+$/.test(retryAfter) ? now + Number(retryAfter) * SECOND : Date.parse(retryAfter);
  return Number.isNaN(instant) ? 0 : Math.min(instant, now + LONGEST_WAIT);
}

/**
 * Returns what the redelivery of a delivery that is not being sent changes. It is sent before later events of its subject, but
 * never at the same time. `scheduled` is the other delivery of its subject that is due, waits for a retry or is being sent.
 */
export function redelivered(
  row: queries.DeliveryRow,
  scheduled: queries.DeliveryRow | undefined,
  now: number,
): queries.DeliveryChange[] {
  const first = { ...again(row), failures: 0, next_attempt_at: now };
  if (!scheduled) return [first];
  if (scheduled.id < row.id || isSent(scheduled, now)) return [{ ...first, next_attempt_at: null }];
  return [first, again(scheduled)];
}

/** Whether a process is sending a delivery. */
export function isSent({ leased_until }: queries.DeliveryRow, now: number): boolean {
  return leased_until !== null && leased_until > now;
}

/** The delivery is pending, and nothing is scheduled. */
function again({ id, attempts, failures }: queries.DeliveryRow): queries.DeliveryChange {
  return { id, status: 'pending', attempts, failures, next_attempt_at: null, finished_at: null };
}
