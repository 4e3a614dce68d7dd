import type { Queries, Writer } from '../../db/database.ts';
import { DAY, SECOND } from '../../kit/clock.ts';
import { eventJson } from '../event-log/event.ts';
import { type EventFilter, eventFilter } from '../event-log/event-filter.ts';
import { selectEvents } from '../event-log/event-queries.ts';
import { isConfidential } from '../event-log/event-types.ts';
import type { Outcome } from './attempt.ts';
import {
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
import { nextAttemptAt } from './schedule.ts';
import {
  disableWebhook,
  selectWebhookToChange,
  updateFailingSince,
  updatePosition,
  type WebhookRow,
} from './webhook-queries.ts';

/** The most events that become deliveries in one transaction. */
const PLANNED_AT_ONCE = 500;

/** The most deliveries of a webhook that are sent at once, by all replicas together. */
export const AT_ONCE = 8;

/** For how long whoever sends a delivery has it for itself, in milliseconds: longer than an attempt takes. */
const LEASE = 60 * SECOND;

/** How long an endpoint may take no delivery before it is disabled, in milliseconds. */
const DEAD_FOR = 5 * DAY;

/** Answers whether a key may still read events that are for administrators. */
export type IsAdministrator = (db: Queries, keyId: number, now: number) => Promise<boolean>;

/** Turns the next events of the log into deliveries of a webhook: each once, whichever replicas try it. */
export function plan(
  db: Writer,
  webhookId: number,
  { isAdministrator, now }: { isAdministrator: IsAdministrator; now: number },
): Promise<void> {
  return db.write(async tx => {
    const webhook = await selectWebhookToChange(tx, webhookId);
    if (webhook?.enabled !== 1) return;
    const filter = filterOf(webhook, await isConfidant(tx, webhook, isAdministrator, now));
    // Events and end of the log by one statement: an event between two would be planned twice.
    const { latest, events } = await selectEvents(tx, filter, {
      after: webhook.position,
      limit: PLANNED_AT_ONCE,
    });
    await Promise.all(
      events.map(event => {
        const { id, type, subject } = event;
        const delivery = { webhook_id: webhookId, event_id: id, type, subject, payload: eventJson(event) };
        return insertDelivery(tx, delivery, now);
      }),
    );
    const isFull = events.length === PLANNED_AT_ONCE;
    await updatePosition(tx, webhookId, isFull ? events.at(-1)!.id : Math.max(webhook.position, latest));
  });
}

export interface Claim {
  webhook: WebhookRow;
  deliveries: LeasedDelivery[];
  /** Whether it gets events that are for administrators. */
  isConfidant: boolean;
}

/** Takes deliveries that are due, so that nobody else sends them; `undefined` when there are none, or enough are sent. */
export function claim(
  db: Writer,
  webhookId: number,
  { isAdministrator, now }: { isAdministrator: IsAdministrator; now: number },
): Promise<Claim | undefined> {
  return db.write(async tx => {
    const webhook = await selectWebhookToChange(tx, webhookId);
    if (webhook?.enabled !== 1) return undefined;
    const room = AT_ONCE - (await countLeased(tx, webhookId, now));
    if (room <= 0) return undefined;
    const deliveries = await leaseDue(tx, webhookId, { now, until: now + LEASE, limit: room });
    if (deliveries.length === 0) return undefined;
    return { webhook, deliveries, isConfidant: await isConfidant(tx, webhook, isAdministrator, now) };
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

async function isConfidant(
  db: Queries,
  { confidential_key_id: keyId }: WebhookRow,
  isAdministrator: IsAdministrator,
  now: number,
): Promise<boolean> {
  return keyId !== null && (await isAdministrator(db, keyId, now));
}

/** The events that a webhook gets. Those for administrators may have been among them once and not be any more. */
function filterOf({ types }: WebhookRow, isConfidant: boolean): EventFilter {
  const { types: wanted } = eventFilter({ types: types?.split(' ') }, true);
  if (isConfidant) return { types: wanted, subject: undefined };
  const allowed = wanted
    ? new Set([...wanted].filter(type => !isConfidential(type)))
    : eventFilter({}, false).types;
  return { types: allowed, subject: undefined };
}
