import type { Scope } from '../../contract/scopes.ts';
import type { Statements, StoredEvent, Transaction, Writer } from '../../db/database.ts';
import { RESTORED_TYPE } from '../../db/event-ranges.ts';
import { eventJson } from '../event-log/event.ts';
import { type EventReader, ownKeyOf, readableTypes } from '../event-log/event-filter.ts';
import { selectEvents } from '../event-log/event-queries.ts';
import { type EventType, isLeakOf, subjectOf, TEST_TYPE } from '../event-log/event-types.ts';
import { insertAttempts } from './attempt-queries.ts';
import * as queries from './delivery-queries.ts';
import * as rules from './delivery-rules.ts';
import { claimable, type Request, type Served, type Turn } from './lane-rules.ts';
import { namedTypes, problemOf, type ReadStandings, standingOf } from './owners.ts';
import { appendDisabled } from './webhook-events.ts';
import { selectUnlessTaken, updateDisabled, updateProgress, type WebhookRow } from './webhook-queries.ts';

interface ServeOptions {
  readStandings: ReadStandings;
  /** Milliseconds since the Unix epoch. */
  now: number;
  /** The source of events. */
  source: string;
}

/** A transaction that only disables the webhook if its key may no longer have events sent. */
export const CHECK: Request = { ended: [], plans: false, connections: 0, limit: 0, most: 0, own: 0 };

/**
 * Does the work of a lane in one transaction: stores the outcomes of attempts, plans deliveries and claims due ones, which no
 * other process sends until their leases end. A webhook whose key may no longer have events sent is disabled, after its last event. Plans and claims
 * nothing if the URL of the webhook is not `url`. Returns `locked`, and does nothing, if another transaction has locked the webhook.
 */
export function serve(
  db: Writer,
  { id, url, api_key_id }: Pick<WebhookRow, 'id' | 'url' | 'api_key_id'>,
  request: Request,
  options: ServeOptions,
): Promise<Served | 'locked'> {
  const { readStandings, now } = options;
  return db.write(async tx => {
    const leases = request.ended.map(({ delivery: { id, leased_until } }) => ({ id, leased_until }));
    const [, stored, owner, held] = await Promise.all([
      queries.readByIndex(tx),
      selectUnlessTaken(tx, id),
      standingOf(readStandings, tx, api_key_id, now),
      leases.length === 0 ? [] : queries.selectHeld(tx, leases),
    ]);
    if (stored === 'taken') return 'locked';
    const served: Served = {
      webhook: undefined,
      isFull: false,
      claimed: [],
      disabled: undefined,
      turn: undefined,
    };
    if (!stored) return served;
    const effects = rules.afterAttempts(stored, held, request.ended, now);
    // What an earlier URL returned does not change the webhook.
    if (stored.url !== url) Object.assign(effects, { webhook: stored, traceId: undefined });
    served.turn = turnOf(stored, effects, now);
    await store(tx, effects, now);
    const problem = problemOf(stored, owner, now);
    const sendsLast =
      rules.maySendLast(stored, owner, now) && (await queries.isEventPending(tx, id, stored.last_event_id!));
    let webhook = problem && !sendsLast ? rules.disabled(effects.webhook, problem) : effects.webhook;
    const isActive = webhook.enabled === 1 && webhook.url === url;
    if (isActive && request.plans && !problem) {
      const position = await plan(tx, webhook, owner, options);
      if (position === undefined) served.isFull = true;
      else webhook = { ...webhook, position };
    }
    const isDisabled = webhook.enabled < stored.enabled;
    const [deliveries] = await Promise.all([
      isActive ? claim(tx, webhook, request, { now, onlyLast: sendsLast }) : [],
      webhook !== stored && updateProgress(tx, webhook),
      isDisabled && updateDisabled(tx, webhook),
    ]);
    if (isDisabled) appendDisabled(tx, webhook);
    if (isActive) {
      served.claimed = deliveries.map(delivery => ({ delivery, webhook, scopes: owner.scopes }));
      served.webhook = webhook;
    } else if (isDisabled) served.disabled = { reason: webhook.disabled_reason!, traceId: effects.traceId };
    return served;
  });
}

function turnOf(
  { failing_since: before }: WebhookRow,
  { webhook: { failing_since: after }, failure }: rules.Effects,
  now: number,
): Turn | undefined {
  if (before === null && after !== null) return { fails: true, reason: failure! };
  if (before === null || after !== null) return undefined;
  // The clock may have been set back since then.
  return { fails: false, failedFor: Math.max(0, now - before) };
}

async function store(
  tx: Transaction,
  { webhook, changes, attempts, released }: rules.Effects,
  now: number,
): Promise<void> {
  if (changes.length === 0) return;
  await Promise.all([
    insertAttempts(tx, attempts),
    queries.updateDeliveries(tx, changes),
    queries.releaseFirst(tx, webhook.id, [...released], now),
  ]);
}

/**
 * Turns the next events of the log into deliveries, each only once, even if several replicas try. Returns the new position of the
 * webhook; `undefined` if the window has no room.
 */
async function plan(
  tx: Transaction,
  { id, api_key_id, types, position }: WebhookRow,
  owner: EventReader,
  options: ServeOptions,
): Promise<number | undefined> {
  const filter = { types: plannedTypes(types, owner.scopes), subject: undefined, ownKey: ownKeyOf(owner) };
  const [backlog, { latest, events }] = await Promise.all([
    queries.countBacklog(tx, id, rules.FULL_WINDOW),
    // One statement reads the events and the end of the log: an event between two statements would be planned twice.
    selectEvents(tx, filter, { after: position, limit: rules.PLANNED_AT_ONCE }),
  ]);
  if (rules.isWindowFull(backlog)) return undefined;
  // A test is sent only to its own webhook: it became a delivery in the transaction that appended it, as the event of a leaked secret
  // did for the webhooks of its key. Other events of a webhook are sent to all others: what its receiver changes would otherwise come
  // back to it.
  const own = subjectOf('webhook.updated', id);
  const sent = events.filter(
    event => event.type !== TEST_TYPE && event.subject !== own && !isLeakOf(event, api_key_id),
  );
  await addDeliveries(tx, id, sent, options);
  return events.at(rules.PLANNED_AT_ONCE - 1)?.id ?? Math.max(position, latest);
}

/**
 * Returns the types of the events that are sent; `undefined` for all types. Every webhook gets `log.restored`: the service stores
 * its position, so its receiver could not find out in another way that events were lost.
 */
function plannedTypes(types: string | null, scopes: ReadonlySet<Scope>): ReadonlySet<EventType> | undefined {
  return types === null ? readableTypes(scopes) : new Set([...namedTypes(types), RESTORED_TYPE]);
}

/** Adds deliveries of these events to a webhook that the transaction has locked. */
export async function addDeliveries(
  tx: Statements,
  webhookId: number,
  events: readonly StoredEvent[],
  { now, source }: Pick<ServeOptions, 'now' | 'source'>,
): Promise<void> {
  if (events.length === 0) return;
  const subjects = new Set(events.map(({ subject }) => subject));
  const times = rules.firstAttempts(
    events,
    await queries.selectBusySubjects(tx, webhookId, [...subjects]),
    now,
  );
  const deliveries = events.map((event, i) => {
    const { id, type, subject } = event;
    return { event_id: id, type, subject, payload: eventJson(event, source), next_attempt_at: times[i]! };
  });
  await queries.insertDeliveries(tx, webhookId, deliveries, now);
}

/** Leases due deliveries; with `onlyLast` only the one of the last event of the webhook. */
async function claim(
  tx: Transaction,
  webhook: WebhookRow,
  request: Request,
  { now, onlyLast }: { now: number; onlyLast: boolean },
): Promise<queries.LeasedDelivery[]> {
  if (request.limit === 0) return [];
  const latest = rules.latestPlausible(now);
  if (onlyLast) return queries.leaseEvent(tx, webhook, { now, until: now + rules.LEASE, latest });
  const leased = await queries.countLeased(tx, webhook.id, { now, latest: latest.lease });
  const limit = claimable(webhook, request, leased);
  return limit === 0
    ? []
    : queries.leaseDue(tx, webhook.id, { now, until: now + rules.LEASE, latest, limit });
}
