import type { Scope } from '../../contract/scopes.ts';
import type { Queries, Writer } from '../../db/database.ts';
import { RESTORED_TYPE } from '../../db/event-ranges.ts';
import { eventJson } from '../event-log/event.ts';
import { readableTypes } from '../event-log/event-filter.ts';
import { selectEvents } from '../event-log/event-queries.ts';
import { type EventType, TEST_TYPE } from '../event-log/event-types.ts';
import { insertDeliveries } from './delivery-batches.ts';
import { countBacklog } from './delivery-queries.ts';
import { namedTypes, problemOf, type ReadStandings, standingOf } from './owners.ts';
import {
  disableWebhook,
  selectUnlessTaken,
  selectWebhookToChange,
  updatePosition,
} from './webhook-queries.ts';

/** The maximum number of events that become deliveries in one transaction. */
export const PLANNED_AT_ONCE = 100;

/**
 * How many deliveries of a webhook are planned; later events stay in the log. The limit for due deliveries is low. The limit
 * that includes deliveries which wait for an earlier one or for a retry is higher, so that a failing subject does not block
 * the others.
 */
export const WINDOW = { untried: 500, pending: 5_000 } as const;

export interface PlanOptions {
  readStandings: ReadStandings;
  /** Milliseconds since the Unix epoch. */
  now: number;
}

/**
 * Turns the next events of the log into deliveries of a webhook, each only once, even if several replicas try. Returns `full` if
 * the window has no room, `moved` if the webhook advanced in the log, `idle` if there was nothing to do, and `taken` if another
 * transaction has locked the webhook. `source` is the source of the events.
 */
export async function plan(
  db: Queries & Writer,
  webhookId: number,
  { readStandings, now, source }: PlanOptions & { source: string },
): Promise<'full' | 'moved' | 'idle' | 'taken'> {
  // Checked before the transaction, which costs more, and again in it, because another replica may plan in the meantime.
  if (!(await hasRoom(db, webhookId))) return 'full';
  return db.write(async tx => {
    const webhook = await selectUnlessTaken(tx, webhookId);
    if (webhook === 'taken') return 'taken';
    if (webhook?.enabled !== 1) return 'idle';
    const [isFree, owner] = await Promise.all([
      hasRoom(tx, webhookId),
      standingOf(readStandings, tx, webhook.api_key_id, now),
    ]);
    if (!isFree) return 'full';
    if (problemOf(webhook, owner, now)) return 'idle';
    const types = plannedTypes(webhook.types, owner.scopes);
    // One statement reads the events and the end of the log: an event between two statements would be planned twice.
    const part = { after: webhook.position, limit: PLANNED_AT_ONCE };
    const { latest, events } = await selectEvents(tx, { types, subject: undefined }, part);
    if (latest <= webhook.position) return 'idle';
    // A test is sent only to its own webhook: it became a delivery in the transaction that appended it.
    const planned = events.filter(({ type }) => type !== TEST_TYPE);
    const deliveries = planned.map(event => {
      const { id, type, subject } = event;
      return { event_id: id, type, subject, payload: eventJson(event, source) };
    });
    await insertDeliveries(tx, webhookId, deliveries, now);
    const last = events.at(PLANNED_AT_ONCE - 1);
    await updatePosition(tx, webhookId, last ? last.id : latest);
    return 'moved';
  });
}

/**
 * Returns the types of the events that are sent; `undefined` for all types. Every webhook gets `log.restored`: the service stores
 * its position, so its receiver could not find out in another way that events were lost.
 */
function plannedTypes(types: string | null, scopes: ReadonlySet<Scope>): ReadonlySet<EventType> | undefined {
  return types === null ? readableTypes(scopes) : new Set([...namedTypes(types), RESTORED_TYPE]);
}

/** Whether the window has room for all deliveries that one transaction plans. */
async function hasRoom(db: Queries, webhookId: number): Promise<boolean> {
  const upTo = {
    untried: WINDOW.untried - PLANNED_AT_ONCE + 1,
    pending: WINDOW.pending - PLANNED_AT_ONCE + 1,
  };
  const { untried, pending } = await countBacklog(db, webhookId, upTo);
  return untried < upTo.untried && pending < upTo.pending;
}

/** Disables a webhook whose key may no longer have events sent. Returns the reason, or `undefined` if the key is fine. */
export function disableUnlessAllowed(
  db: Writer,
  webhookId: number,
  { readStandings, now }: PlanOptions,
): Promise<string | undefined> {
  return db.write(async tx => {
    const webhook = await selectWebhookToChange(tx, webhookId);
    if (webhook?.enabled !== 1) return undefined;
    const owner = await standingOf(readStandings, tx, webhook.api_key_id, now);
    const problem = problemOf(webhook, owner, now);
    if (problem) await disableWebhook(tx, webhookId, problem.reason, problem.since);
    return problem?.reason;
  });
}
