import type { Queries, Writer } from '../../db/database.ts';
import { DAY, SECOND } from '../../kit/clock.ts';
import { eventJson } from '../event-log/event.ts';
import { type EventFilter, eventFilter } from '../event-log/event-filter.ts';
import { selectEvents } from '../event-log/event-queries.ts';
import { isConfidential } from '../event-log/event-types.ts';
import type { Outcome } from './attempt.ts';
import {
  countBacklog,
  countLeased,
  type DeliveryRow,
  type DeliveryState,
  insertAttempt,
  insertDelivery,
  type LeasedDelivery,
  leaseDue,
  releaseLease,
  releaseNext,
  selectLeased,
  updateDelivery,
  waitsForEarlier,
} from './delivery-queries.ts';
import { type ReadStandings, standingOf } from './owners.ts';
import { nextAttemptAt } from './schedule.ts';
import {
  disableWebhook,
  selectWebhookToChange,
  updateFailingSince,
  updatePosition,
  type WebhookRow,
} from './webhook-queries.ts';

/** The most events that become deliveries in one transaction. */
const PLANNED_AT_ONCE = 100;

/**
 * How far ahead the deliveries of a webhook are planned; later events stay in the log. Those that could be sent at once are
 * few. Those that wait for an earlier one of their subject, or to be tried again, may be more, so that a subject that fails
 * does not hold up the others.
 */
const WINDOW = { untried: 500, pending: 5_000 } as const;

/** The most deliveries of a webhook that are sent at once, by all replicas together. */
const AT_ONCE = 8;

/** The same while its attempts fail: an endpoint that takes no delivery is not to keep many connections from others. */
const AT_ONCE_WHILE_FAILING = 2;

/** How long a delivery belongs to the replica that sends it, in milliseconds: longer than an attempt takes. */
const LEASE = 60 * SECOND;

/** How long an endpoint may take no delivery before it is disabled, in milliseconds. */
const DEAD_FOR = 5 * DAY;

export function mostAtOnce({ failing_since }: Pick<WebhookRow, 'failing_since'>): number {
  return failing_since === null ? AT_ONCE : AT_ONCE_WHILE_FAILING;
}

export interface PlanOptions {
  readStandings: ReadStandings;
  /** Milliseconds since the Unix epoch. */
  now: number;
}

/**
 * Turns the next events of the log into deliveries of a webhook: each once, whichever replicas try it. Returns `full` when
 * the window has no room for them, `moved` when the webhook went forward in the log, and `idle` when there was nothing to do.
 */
export async function plan(
  db: Queries & Writer,
  webhookId: number,
  { readStandings, now }: PlanOptions,
): Promise<'full' | 'moved' | 'idle'> {
  // Before the transaction, which costs more; it looks again, because another replica may plan meanwhile.
  if (!(await hasRoom(db, webhookId))) return 'full';
  return db.write(async tx => {
    const webhook = await selectWebhookToChange(tx, webhookId);
    if (webhook?.enabled !== 1) return 'idle';
    const [isFree, owner] = await Promise.all([
      hasRoom(tx, webhookId),
      standingOf(readStandings, tx, webhook.api_key_id, now),
    ]);
    if (!isFree) return 'full';
    if (owner.problem) return 'idle';
    // Events and end of the log by one statement: an event between two would be planned twice.
    const { latest, events } = await selectEvents(tx, filterOf(webhook, owner.isAdministrator), {
      after: webhook.position,
      limit: PLANNED_AT_ONCE,
    });
    if (latest <= webhook.position) return 'idle';
    await Promise.all(
      events.map(event => {
        const { id, type, subject } = event;
        const delivery = { webhook_id: webhookId, event_id: id, type, subject, payload: eventJson(event) };
        return insertDelivery(tx, delivery, now);
      }),
    );
    const isFull = events.length === PLANNED_AT_ONCE;
    await updatePosition(tx, webhookId, isFull ? events.at(-1)!.id : latest);
    return 'moved';
  });
}

/** Whether the window has room for all that one transaction plans. */
async function hasRoom(db: Queries, webhookId: number): Promise<boolean> {
  const upTo = {
    untried: WINDOW.untried - PLANNED_AT_ONCE + 1,
    pending: WINDOW.pending - PLANNED_AT_ONCE + 1,
  };
  const { untried, pending } = await countBacklog(db, webhookId, upTo);
  return untried < upTo.untried && pending < upTo.pending;
}

export interface Claim {
  webhook: WebhookRow;
  deliveries: LeasedDelivery[];
  /** Whether it gets events that are for administrators. */
  isAdministrator: boolean;
}

/**
 * Leases deliveries that are due, `limit` at most, so that no other replica sends them. Returns `undefined` when none are
 * due, enough are being sent, or the webhook is stopped or has another URL by now.
 */
export function claim(
  db: Writer,
  { id: webhookId, url }: Pick<WebhookRow, 'id' | 'url'>,
  { readStandings, now, limit }: PlanOptions & { limit: number },
): Promise<Claim | undefined> {
  return db.write(async tx => {
    const webhook = await selectWebhookToChange(tx, webhookId);
    if (webhook?.enabled !== 1 || webhook.url !== url) return undefined;
    const [leased, { problem, isAdministrator }] = await Promise.all([
      countLeased(tx, webhookId, now),
      standingOf(readStandings, tx, webhook.api_key_id, now),
    ]);
    const room = Math.min(limit, mostAtOnce(webhook) - leased);
    if (room <= 0 || problem) return undefined;
    const deliveries = await leaseDue(tx, webhookId, { now, until: now + LEASE, limit: room });
    return deliveries.length === 0 ? undefined : { webhook, deliveries, isAdministrator };
  });
}

/** Disables a webhook whose owner may no longer have events sent. Returns the reason, or `undefined` when it is fine. */
export function stopUnlessAllowed(
  db: Writer,
  webhookId: number,
  { readStandings, now }: PlanOptions,
): Promise<string | undefined> {
  return db.write(async tx => {
    const webhook = await selectWebhookToChange(tx, webhookId);
    if (webhook?.enabled !== 1) return undefined;
    const { problem } = await standingOf(readStandings, tx, webhook.api_key_id, now);
    if (problem) await disableWebhook(tx, webhookId, problem.reason, problem.since);
    return problem?.reason;
  });
}

/** Gives back a delivery that was not sent, or of which nobody knows: it is due at once. */
export async function giveBack(db: Queries, delivery: LeasedDelivery, now: number): Promise<void> {
  await releaseLease(db, delivery, now);
}

export interface Attempted {
  startedAt: number;
  outcome: Outcome;
  /** From 0 to 1: what the pause before the next attempt is varied by. */
  random: number;
  /** Only an event is tried again, and only events say whether the endpoint is dead. */
  kind: 'event' | 'test' | 'withheld';
}

/**
 * Keeps what became of an attempt, and has the next delivery of the subject be due when this one is finished. Answers why
 * the webhook was disabled, if it was. An outcome that comes when the lease is over counts for nothing.
 */
export function finish(
  db: Writer,
  delivery: LeasedDelivery,
  attempted: Attempted,
  now: number,
): Promise<string | undefined> {
  const { outcome } = attempted;
  return db.write(async tx => {
    const webhook = await selectWebhookToChange(tx, delivery.webhook_id);
    const row = webhook && (await selectLeased(tx, delivery));
    if (!row) return undefined;
    await insertAttempt(tx, row.id, {
      number: row.attempts + 1,
      started_at: attempted.startedAt,
      duration_ms: outcome.duration,
      status: outcome.status,
      error: outcome.error,
      response_start: outcome.responseStart,
    });
    const isWaiting = await waitsForEarlier(tx, row);
    const state = stateAfter(row, attempted, now);
    await updateDelivery(tx, row.id, isWaiting ? { ...state, next_attempt_at: null } : state);
    if (state.status !== 'pending' || isWaiting) await releaseNext(tx, row.webhook_id, row.subject, now);
    if (outcome.error === null) {
      if (webhook.failing_since !== null) await updateFailingSince(tx, webhook.id, null);
      return undefined;
    }
    const isEvent = attempted.kind === 'event';
    const failingSince = webhook.failing_since ?? attempted.startedAt;
    if (isEvent && webhook.failing_since === null) await updateFailingSince(tx, webhook.id, failingSince);
    const isDead = isEvent && state.status === 'dead';
    const reason = reasonToDisable(outcome, isDead ? now - failingSince : 0);
    if (reason === undefined || webhook.enabled === 0) return undefined;
    await disableWebhook(tx, webhook.id, reason, now);
    return reason;
  });
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

/** `failingFor`: for how long nothing succeeded, in milliseconds, when a delivery is dead now; else 0. */
function reasonToDisable({ status }: Outcome, failingFor: number): string | undefined {
  if (status === 410) return 'The endpoint answered with status 410: it is gone for good';
  if (failingFor >= DEAD_FOR)
    return `The endpoint has taken no delivery for ${Math.floor(failingFor / DAY)} days`;
  return undefined;
}

/** The events that a webhook gets. Those for administrators may have been among them once and not be any more. */
function filterOf({ types }: WebhookRow, isAdministrator: boolean): EventFilter {
  const { types: wanted } = eventFilter({ types: types?.split(' ') }, true);
  if (isAdministrator) return { types: wanted, subject: undefined };
  const allowed = wanted
    ? new Set([...wanted].filter(type => !isConfidential(type)))
    : eventFilter({}, false).types;
  return { types: allowed, subject: undefined };
}
