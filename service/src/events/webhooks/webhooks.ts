import { ApiError } from '../../contract/errors.ts';
import type { Scope } from '../../contract/scopes.ts';
import type { Queries, StoredEvent, Transaction, Writer } from '../../db/database.ts';
import { selectPage } from '../../db/select-page.ts';
import { SECOND } from '../../kit/clock.ts';
import { formatDateTime } from '../../kit/dates.ts';
import { mapPage, type Page } from '../../kit/paging.ts';
import { selectEnds } from '../event-log/event-queries.ts';
import { endDeliveries } from './delivery-queries.ts';
import { disabled } from './delivery-rules.ts';
import { WEBHOOKS_CHANGED } from './dispatcher.ts';
import {
  type OwnerProblem,
  type OwnerStanding,
  problemOf,
  type ReadStandings,
  standingOf,
} from './owners.ts';
import { addDeliveries } from './serve.ts';
import { newSecret } from './signature.ts';
import {
  rejectUnreadable,
  type SecretRotation,
  toWebhook,
  type Webhook,
  type WebhookSettings,
} from './webhook.ts';
import { appendDisabled, appendWebhookEvent, nameOf, webhookEvents } from './webhook-events.ts';
import * as queries from './webhook-queries.ts';

/** The API key that makes a request. Administrators can use all webhooks, other keys only their own. */
export interface Actor {
  keyId: number;
  scopes: ReadonlySet<Scope>;
  readStandings: ReadStandings;
  /** Milliseconds since the Unix epoch. */
  now: number;
}

export async function list(db: Queries, query: queries.WebhookQuery, actor: Actor): Promise<Page<Webhook>> {
  const { keyId, scopes, readStandings, now } = actor;
  const page = scopes.has('admin')
    ? await selectPage(db, queries.allWebhooksList, query)
    : await selectPage(db, queries.webhookList, query, keyId);
  const owners = [...new Set(page.items.map(({ api_key_id }) => api_key_id))];
  if (owners.length === 0) return { ...page, items: [] };
  const standings = await readStandings(db, owners, now);
  return mapPage(page, row => toWebhook(effectiveState(row, standings.get(row.api_key_id)!, now)));
}

export async function read(db: Queries, webhookId: number, actor: Actor): Promise<Webhook> {
  const row = found(await queries.selectWebhook(db, webhookId), webhookId, actor);
  return toWebhook(await currentState(db, row, actor));
}

/**
 * Creates a webhook for all events from now on; the result has its secret. Throws `too_many_webhooks` if the key already has
 * `mostPerKey`, and `insufficient_scope` for types that the key may not read.
 */
export async function create(
  db: Writer,
  settings: WebhookSettings,
  actor: Actor,
  mostPerKey: number,
): Promise<Webhook & { secret: string }> {
  const { keyId, scopes, now } = actor;
  rejectUnreadable(settings.types, { keyId, scopes });
  const secret = newSecret();
  const work = async (tx: Transaction) => {
    if ((await queries.countWebhooksOf(tx, keyId, mostPerKey)) >= mostPerKey) {
      throw new ApiError(
        'too_many_webhooks',
        `API key ${keyId} has ${mostPerKey} webhooks, which is the maximum: delete one of them, or change one instead`,
      );
    }
    tx.notify(WEBHOOKS_CHANGED);
    const { latest } = await selectEnds(tx);
    const row = await queries.webhookTable.insert(tx, {
      ...termsOf(settings),
      ...switchedTo(settings.enabled, now),
      api_key_id: keyId,
      secret,
      previous_secret: null,
      previous_secret_expires_at: null,
      position: latest,
      replay_until: null,
      last_event_id: null,
      created_at: now,
      deleted_at: null,
    });
    // The webhook starts after its own event.
    const name = { name: nameOf(row) };
    const event = await webhookEvents.appendNumbered(tx, 'webhook.created', row.id, toWebhook(row), name);
    await queries.updateProgress(tx, { ...row, position: event.id });
    return row;
  };
  // A group of writes would run it again for the number of its event, with another ID.
  const created = await db.write(work, { alone: true });
  return { ...toWebhook(created), secret };
}

/**
 * Replaces the settings of a webhook with the result of `settingsFor`; if that throws, nothing changes. Throws
 * `webhook_key_unfit` if the webhook would be enabled although its key may not have events sent.
 */
export function update(
  db: Writer,
  webhookId: number,
  settingsFor: (current: Webhook) => WebhookSettings,
  actor: Actor,
): Promise<Webhook> {
  return db.write(async tx => {
    const stored = await lockWebhook(tx, webhookId, actor);
    const owner = await standingOf(actor.readStandings, tx, stored.api_key_id, actor.now);
    const shown = effectiveState(stored, owner, actor.now);
    const current = toWebhook(shown);
    // A webhook that is shown as disabled, but still sends its last event, stays enabled in the store.
    const row = stored.last_event_id === null ? shown : stored;
    if (row.enabled < stored.enabled) appendDisabled(tx, row);
    const settings = settingsFor(current);
    const isSwitched = settings.enabled !== current.enabled;
    const terms = termsOf(settings, row);
    const changed = {
      ...row,
      ...terms,
      // The new endpoint has not failed.
      ...(terms.url !== row.url && { failing_since: null }),
      ...(isSwitched && switchedTo(settings.enabled, actor.now)),
    };
    if (changed.types !== row.types) rejectUnreadable(settings.types, owner);
    const problem = settings.enabled && problemOf(changed, owner, actor.now);
    if (problem) throw unfitKey(webhookId, problem);
    const updated = await queries.webhookTable.update(tx, webhookId, changed);
    if (queries.webhookTable.differ(row, updated)) {
      const type = settings.enabled ? 'webhook.enabled' : 'webhook.disabled';
      appendWebhookEvent(tx, isSwitched ? type : 'webhook.updated', updated, { before: toWebhook(row) });
    }
    return toWebhook(effectiveState(updated, owner, actor.now));
  });
}

export function remove(
  db: Writer,
  webhookId: number,
  guard: (current: Webhook) => void,
  actor: Actor,
): Promise<void> {
  return db.write(async tx => {
    const row = await lockWebhook(tx, webhookId, actor);
    guard(toWebhook(await currentState(tx, row, actor)));
    const secrets = { secret: '', previous_secret: null, previous_secret_expires_at: null };
    await queries.webhookTable.update(tx, webhookId, { ...row, ...secrets, deleted_at: actor.now });
    appendWebhookEvent(tx, 'webhook.deleted', row);
  });
}

/** Gives a webhook a new secret. During the grace period messages are also signed with the earlier secret. */
export function rotate(
  db: Writer,
  webhookId: number,
  { graceSeconds }: SecretRotation,
  actor: Actor,
): Promise<Webhook & { earlierSecretExpiresAt: string; secret: string }> {
  const secret = newSecret();
  const expiresAt = actor.now + graceSeconds * SECOND;
  return db.write(async tx => {
    const row = await lockWebhook(tx, webhookId, actor);
    const secrets = { secret, previous_secret: row.secret, previous_secret_expires_at: expiresAt };
    await queries.webhookTable.update(tx, webhookId, { ...row, ...secrets });
    appendWebhookEvent(tx, 'webhook.rotated', row);
    const webhook = toWebhook(await currentState(tx, row, actor));
    return { ...webhook, earlierSecretExpiresAt: formatDateTime(expiresAt), secret };
  });
}

/** Disables the webhooks to which nothing may be sent any more, in the transaction that revokes or changes their key. */
export async function stopWebhooksOf(tx: Transaction, owner: OwnerStanding, now: number): Promise<void> {
  for (const types of await queries.selectTypesOfWebhooks(tx, owner.keyId)) {
    const problem = problemOf({ types }, owner, now);
    if (!problem) continue;
    for (const row of await queries.disableWebhooksOf(tx, owner.keyId, types, problem)) {
      appendDisabled(tx, row);
    }
  }
}

/**
 * Sends an event of a key to all its enabled webhooks, in the transaction that appends it. With `isLast`, which the transaction that
 * ends the key sets, they stop afterwards: when the event was delivered, or after an hour.
 */
export async function sendToWebhooksOf(
  tx: Transaction,
  keyId: number,
  event: StoredEvent,
  { isLast, ...options }: { isLast: boolean; now: number; source: string },
): Promise<void> {
  tx.notify(WEBHOOKS_CHANGED);
  for (const webhookId of await queries.selectEnabledOf(tx, keyId)) {
    const row = await queries.selectWebhookToChange(tx, webhookId);
    if (row?.enabled !== 1) continue;
    // It would wait for earlier events of its subject, which are no longer sent.
    if (isLast) await endDeliveries(tx, webhookId, event.subject, options.now);
    await addDeliveries(tx, webhookId, [event], options);
    if (isLast) await queries.updateLastEvent(tx, webhookId, event.id);
  }
}

/**
 * Reads a webhook, and locks it and its deliveries until the transaction ends. The commit wakes the dispatchers. Throws
 * `webhook_not_found`.
 */
export async function lockWebhook(
  tx: Transaction,
  webhookId: number,
  actor: Actor,
): Promise<queries.WebhookRow> {
  tx.notify(WEBHOOKS_CHANGED);
  return found(await queries.selectWebhookToChange(tx, webhookId), webhookId, actor);
}

function found(
  row: queries.WebhookRow | undefined,
  webhookId: number,
  { keyId, scopes }: Actor,
): queries.WebhookRow {
  if (row && (scopes.has('admin') || row.api_key_id === keyId)) return row;
  throw new ApiError('webhook_not_found', `There is no webhook ${webhookId}`);
}

/** Returns a webhook as it is for its key now, even before the dispatcher has stored that. */
async function currentState(
  db: Queries,
  row: queries.WebhookRow,
  { readStandings, now }: Actor,
): Promise<queries.WebhookRow> {
  return effectiveState(row, await standingOf(readStandings, db, row.api_key_id, now), now);
}

/** Returns a webhook as disabled if its key is no longer fit. */
function effectiveState(row: queries.WebhookRow, owner: OwnerStanding, now: number): queries.WebhookRow {
  const problem = problemOf(row, owner, now);
  return problem ? disabled(row, problem) : row;
}

function unfitKey(webhookId: number, { reason }: OwnerProblem): ApiError {
  return new ApiError(
    'webhook_key_unfit',
    `Webhook ${webhookId} cannot be enabled, because ${reason} and the webhook belongs to that key: have an administrator ` +
      'change the key, or create the webhook with another key',
  );
}

/** Returns the columns for the settings. A new URL is stored in its parsed form; an unchanged URL stays as it is. */
function termsOf({ url, types, description }: WebhookSettings, current?: queries.WebhookRow) {
  return {
    url: url === current?.url ? url : new URL(url).href,
    types: types?.join(' ') ?? null,
    description: description ?? null,
  };
}

/** Returns the columns that change when a client enables or disables a webhook. Enabling it clears the failure history. */
function switchedTo(enable: boolean, now: number) {
  const enabled: 0 | 1 = enable ? 1 : 0;
  return { enabled, disabled_reason: null, disabled_at: enable ? null : now, failing_since: null };
}
