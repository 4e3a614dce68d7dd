import { ApiError } from '../../contract/errors.ts';
import type { Scope } from '../../contract/scopes.ts';
import type { Queries, Transaction, Writer } from '../../db/database.ts';
import { selectPage } from '../../db/select-page.ts';
import { SECOND } from '../../kit/clock.ts';
import { formatDateTime } from '../../kit/dates.ts';
import { mapPage, type Page } from '../../kit/paging.ts';
import { selectEnds } from '../event-log/event-queries.ts';
import { WEBHOOKS_CHANGED } from './dispatcher.ts';
import {
  type OwnerProblem,
  type OwnerStanding,
  problemOf,
  type ReadStandings,
  standingOf,
} from './owners.ts';
import { newSecret } from './signature.ts';
import {
  rejectUnreadable,
  type SecretRotation,
  toWebhook,
  type Webhook,
  type WebhookSettings,
} from './webhook.ts';
import {
  allWebhooksList,
  countWebhooksOf,
  disableWebhooksOf,
  insertWebhook,
  markDeleted,
  selectTypesOfWebhooks,
  selectWebhook,
  selectWebhookToChange,
  updateSecrets,
  updateWebhook,
  type WebhookQuery,
  type WebhookRow,
  type WebhookTerms,
  webhookList,
} from './webhook-queries.ts';

/** The API key that makes a request. Administrators can use all webhooks, other keys only their own. */
export interface Actor {
  keyId: number;
  scopes: ReadonlySet<Scope>;
  readStandings: ReadStandings;
  /** Milliseconds since the Unix epoch. */
  now: number;
}

export async function list(db: Queries, query: WebhookQuery, actor: Actor): Promise<Page<Webhook>> {
  const { keyId, scopes, readStandings, now } = actor;
  const page = scopes.has('admin')
    ? await selectPage(db, allWebhooksList, query)
    : await selectPage(db, webhookList, query, keyId);
  const owners = [...new Set(page.items.map(({ api_key_id }) => api_key_id))];
  if (owners.length === 0) return { ...page, items: [] };
  const standings = await readStandings(db, owners, now);
  return mapPage(page, row => toWebhook(effectiveState(row, standings.get(row.api_key_id)!, now)));
}

export async function read(db: Queries, webhookId: number, actor: Actor): Promise<Webhook> {
  const row = found(await selectWebhook(db, webhookId), webhookId, actor);
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
  const terms = {
    ...termsOf(settings),
    disabled_reason: null,
    disabled_at: settings.enabled ? null : now,
    failing_since: null,
  };
  const secret = newSecret();
  const created = await db.write(async tx => {
    if ((await countWebhooksOf(tx, keyId, mostPerKey)) >= mostPerKey) {
      throw new ApiError(
        'too_many_webhooks',
        `API key ${keyId} has ${mostPerKey} webhooks, which is the maximum: delete one of them, or change one instead`,
      );
    }
    tx.notify(WEBHOOKS_CHANGED);
    const { latest } = await selectEnds(tx);
    return insertWebhook(tx, terms, { apiKeyId: keyId, secret, position: latest, now });
  });
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
    const row = effectiveState(stored, owner, actor.now);
    const current = toWebhook(row);
    const settings = settingsFor(current);
    const terms = { ...termsOf(settings, row), ...switched(row, settings.enabled, actor.now) };
    if (terms.types !== row.types) rejectUnreadable(settings.types, owner);
    const problem = settings.enabled && problemOf(terms, owner, actor.now);
    if (problem) throw unfitKey(webhookId, problem);
    return toWebhook(await updateWebhook(tx, webhookId, terms));
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
    await markDeleted(tx, webhookId, actor.now);
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
    await updateSecrets(tx, webhookId, {
      secret,
      previous_secret: row.secret,
      previous_secret_expires_at: expiresAt,
    });
    const webhook = toWebhook(await currentState(tx, row, actor));
    return { ...webhook, earlierSecretExpiresAt: formatDateTime(expiresAt), secret };
  });
}

/** Disables the webhooks to which nothing may be sent any more, in the transaction that revokes or changes their key. */
export async function stopWebhooksOf(tx: Transaction, owner: OwnerStanding, now: number): Promise<void> {
  for (const types of await selectTypesOfWebhooks(tx, owner.keyId)) {
    const problem = problemOf({ types }, owner, now);
    if (problem) await disableWebhooksOf(tx, owner.keyId, types, problem);
  }
}

/**
 * Reads a webhook, and locks it and its deliveries until the transaction ends. The commit wakes the dispatchers. Throws
 * `webhook_not_found`.
 */
export async function lockWebhook(tx: Transaction, webhookId: number, actor: Actor): Promise<WebhookRow> {
  tx.notify(WEBHOOKS_CHANGED);
  return found(await selectWebhookToChange(tx, webhookId), webhookId, actor);
}

function found(row: WebhookRow | undefined, webhookId: number, { keyId, scopes }: Actor): WebhookRow {
  if (row && (scopes.has('admin') || row.api_key_id === keyId)) return row;
  throw new ApiError('webhook_not_found', `There is no webhook ${webhookId}`);
}

/** Returns a webhook as it is for its key now, even before the dispatcher has stored that. */
export async function currentState(
  db: Queries,
  row: WebhookRow,
  { readStandings, now }: Actor,
): Promise<WebhookRow> {
  return effectiveState(row, await standingOf(readStandings, db, row.api_key_id, now), now);
}

/** Returns a webhook as disabled if its key is no longer fit. */
function effectiveState(row: WebhookRow, owner: OwnerStanding, now: number): WebhookRow {
  const problem = row.enabled === 1 ? problemOf(row, owner, now) : undefined;
  if (!problem) return row;
  return { ...row, enabled: 0, disabled_reason: problem.reason, disabled_at: problem.since };
}

function unfitKey(webhookId: number, { reason }: OwnerProblem): ApiError {
  return new ApiError(
    'webhook_key_unfit',
    `Webhook ${webhookId} cannot be enabled, because ${reason} and the webhook belongs to that key: have an administrator ` +
      'change the key, or create the webhook with another key',
  );
}

/** Returns the columns for the settings. A new URL is stored in its parsed form; an unchanged URL stays as it is. */
function termsOf({ url, types, description }: WebhookSettings, current?: WebhookRow) {
  return {
    url: url === current?.url ? url : new URL(url).href,
    types: types?.join(' ') ?? null,
    description: description ?? null,
  };
}

/** Returns the columns that change when a webhook is enabled or disabled. Enabling it clears the failure history. */
function switched(
  { enabled, disabled_reason, disabled_at, failing_since }: WebhookRow,
  enable: boolean,
  now: number,
): Pick<WebhookTerms, 'disabled_reason' | 'disabled_at' | 'failing_since'> {
  const isSame = enable === (enabled === 1);
  if (isSame) return { disabled_reason, disabled_at, failing_since };
  return { disabled_reason: null, disabled_at: enable ? null : now, failing_since: null };
}
