import { ApiError } from '../../contract/errors.ts';
import type { Queries, Transaction, Writer } from '../../db/database.ts';
import type { Listing } from '../../db/select-page.ts';
import { SECOND } from '../../kit/clock.ts';
import { formatDateTime } from '../../kit/dates.ts';
import { mapPage, type Page } from '../../kit/paging.ts';
import { selectEnds } from '../event-log/event-queries.ts';
import { newSecret } from './signature.ts';
import {
  namesConfidential,
  type SecretRotation,
  toWebhook,
  type Webhook,
  type WebhookSettings,
} from './webhook.ts';
import {
  insertWebhook,
  markDeleted,
  selectWebhook,
  selectWebhooks,
  selectWebhookToChange,
  updateSecrets,
  updateWebhook,
  type WebhookRow,
  type WebhookSort,
  type WebhookTerms,
} from './webhook-queries.ts';

/** Who asks, and when (milliseconds since the Unix epoch). */
export interface Asking {
  keyId: number;
  isAdministrator: boolean;
  now: number;
}

export async function list(db: Queries, listing: Listing<WebhookSort>): Promise<Page<Webhook>> {
  return mapPage(await selectWebhooks(db, listing), toWebhook);
}

export async function read(db: Queries, webhookId: number): Promise<Webhook> {
  return toWebhook(found(await selectWebhook(db, webhookId), webhookId));
}

/** Creates a webhook for the events from now on; the answer shows its secret. */
export async function create(
  db: Writer,
  settings: WebhookSettings,
  asking: Asking,
): Promise<Webhook & { secret: string }> {
  const { keyId, isAdministrator, now } = asking;
  const types = settings.types ?? null;
  namesConfidential(types, isAdministrator);
  const terms = {
    ...termsOf(settings),
    confidential_key_id: isAdministrator ? keyId : null,
    disabled_reason: null,
    disabled_at: settings.enabled ? null : now,
    failing_since: null,
  };
  const secret = newSecret();
  const created = await db.write(async tx => {
    const { latest } = await selectEnds(tx);
    return insertWebhook(tx, terms, { apiKeyId: keyId, secret, position: latest, now });
  });
  return { ...toWebhook(created), secret };
}

/** Gives a webhook the settings that `settingsFor` makes of it; when that throws, nothing changes. */
export function update(
  db: Writer,
  webhookId: number,
  settingsFor: (current: Webhook) => WebhookSettings,
  asking: Asking,
): Promise<Webhook> {
  return db.write(async tx => {
    const row = await foundToChange(tx, webhookId);
    const settings = settingsFor(toWebhook(row));
    const terms = {
      ...termsOf(settings),
      confidential_key_id: confidentialKey(row, settings, asking),
      ...switched(row, settings.enabled, asking.now),
    };
    return toWebhook(await updateWebhook(tx, webhookId, terms));
  });
}

export function remove(
  db: Writer,
  webhookId: number,
  guard: (current: Webhook) => void,
  now: number,
): Promise<void> {
  return db.write(async tx => {
    guard(toWebhook(await foundToChange(tx, webhookId)));
    await markDeleted(tx, webhookId, now);
  });
}

/** Gives a webhook a new secret. During the grace messages are signed with the one before, too. */
export function rotate(
  db: Writer,
  webhookId: number,
  { graceSeconds }: SecretRotation,
  { isAdministrator, now }: Asking,
): Promise<Webhook & { earlierSecretExpiresAt: string; secret: string }> {
  const secret = newSecret();
  const expiresAt = now + graceSeconds * SECOND;
  return db.write(async tx => {
    const row = await foundToChange(tx, webhookId);
    await updateSecrets(tx, webhookId, {
      secret,
      previous_secret: row.secret,
      previous_secret_expires_at: expiresAt,
      // Who is no administrator has the secret now, and so gets no events that are for administrators.
      confidential_key_id: isAdministrator ? row.confidential_key_id : null,
    });
    return { ...toWebhook(row), earlierSecretExpiresAt: formatDateTime(expiresAt), secret };
  });
}

/** Reads a webhook that is there and keeps it, with its deliveries, from others. */
export async function foundToChange(tx: Transaction, webhookId: number): Promise<WebhookRow> {
  return found(await selectWebhookToChange(tx, webhookId), webhookId);
}

export function found(row: WebhookRow | undefined, webhookId: number): WebhookRow {
  if (!row) throw new ApiError('webhook_not_found', `There is no webhook ${webhookId}`);
  return row;
}

function termsOf({ url, types, description }: WebhookSettings) {
  return { url, types: types?.join(' ') ?? null, description: description ?? null };
}

/**
 * By whose right a changed webhook gets events that are for administrators. Who is none could have turned it to an
 * endpoint of their own, so that it gets them no longer; an administrator gives it that right by naming such types.
 */
function confidentialKey(
  { confidential_key_id }: WebhookRow,
  { types }: WebhookSettings,
  { keyId, isAdministrator }: Asking,
): number | null {
  const names = namesConfidential(types ?? null, isAdministrator);
  if (!isAdministrator) return null;
  return confidential_key_id !== null || names ? keyId : null;
}

/** Whoever enables a webhook forgives it what was. */
function switched(
  { enabled, disabled_reason, disabled_at, failing_since }: WebhookRow,
  enable: boolean,
  now: number,
): Pick<WebhookTerms, 'disabled_reason' | 'disabled_at' | 'failing_since'> {
  const isSame = enable === (enabled === 1);
  if (isSame) return { disabled_reason, disabled_at, failing_since };
  return { disabled_reason: null, disabled_at: enable ? null : now, failing_since: null };
}
