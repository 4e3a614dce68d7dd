import { fields } from '@petstore/client/lists';
import { exportedColumns } from '@petstore/pet-files';

/** The items that commands print. */
export interface Resource {
  /** All fields of an item. */
  fields: readonly string[];
  /** The fields in a table; all fields unless set. */
  columns?: readonly string[];
  /** The widths of columns in a stream, whose first rows say nothing about later ones. */
  widths?: Readonly<Record<string, number>>;
  /** Whether values wrap in a table that is too wide, instead of being cut off. */
  wraps?: boolean;
}

export const pet: Resource = { fields: fields.Pet };
export const category: Resource = { fields: fields.Category };
export const order: Resource = { fields: fields.Order };
export const stock: Resource = { fields: fields.InventoryItem };
export const exportedPet: Resource = { fields: exportedColumns };
export const importSummary: Resource = {
  fields: [
    'file',
    'rows',
    'created',
    'rejected',
    'incomplete',
    'skipped',
    'rejectedFile',
    'dryRun',
    'seconds',
  ],
};
export const key: Resource = {
  fields: fields.ApiKey,
  columns: [
    'id',
    'name',
    'kind',
    'plan',
    'scopes',
    'allowedNetworks',
    'expiresAt',
    'revokedAt',
    'lastUsedAt',
    'lastUsedFrom',
    'lastUsedClient',
  ],
};
export const listedKey: Resource = {
  fields: [...fields.ApiKey, 'unused'],
  columns: ['id', 'name', 'kind', 'plan', 'scopes', 'expiresAt', 'revokedAt', 'lastUsedAt', 'unused'],
};
export const createdKey: Resource = {
  fields: fields.CreatedApiKey,
  columns: ['id', 'name', 'kind', 'plan', 'scopes', 'expiresAt', 'key'],
};
export const rotatedKey: Resource = {
  fields: fields.RotatedApiKey,
  columns: ['id', 'name', 'earlierKeysExpireAt', 'key'],
};
export const busyKey: Resource = { fields: fields.BusyKey };
export const leakReport: Resource = { fields: ['file', 'found', ...fields.LeakReceipt] };
export const planRequest: Resource = {
  fields: fields.PlanRequest,
  columns: ['id', 'keyId', 'name', 'plan', 'quotas', 'status', 'note', 'message', 'createdAt'],
  wraps: true,
};
export const usage: Resource = { fields: fields.KeyUsage };
export const account: Resource = { fields: fields.Account };
export const event: Resource = {
  fields: fields.PetEvent,
  columns: ['id', 'time', 'type', 'subject', 'actor'],
  widths: { id: 8, time: 19, type: 20, subject: 20, actor: 8 },
};
export const historyEntry: Resource = {
  fields: [...fields.HistoryEntry, 'change'],
  columns: ['time', 'actorName', 'type', 'name', 'subject', 'change', 'reason', 'note'],
  wraps: true,
};
export const checkpoint: Resource = { fields: fields.Checkpoint };
export const verification: Resource = {
  fields: ['outcome', 'groups', 'events', 'expiredGroups', 'lastId', 'seal'],
};
export const webhook: Resource = {
  fields: fields.Webhook,
  columns: ['id', 'url', 'types', 'enabled', 'disabledReason', 'failingSince'],
};
export const createdWebhook: Resource = {
  fields: fields.CreatedWebhook,
  columns: ['id', 'url', 'types', 'secret'],
};
export const rotatedWebhook: Resource = {
  fields: fields.RotatedWebhook,
  columns: ['id', 'url', 'earlierSecretExpiresAt', 'secret'],
};
export const delivery: Resource = {
  fields: fields.WebhookDelivery,
  columns: ['id', 'eventId', 'type', 'subject', 'status', 'attemptCount', 'nextAttemptAt', 'finishedAt'],
};
export const deliveryDetails: Resource = { fields: fields.WebhookDeliveryDetails };
export const replay: Resource = { fields: fields.Replay };
export const forwarded: Resource = {
  fields: ['messageId', 'eventId', 'type', 'subject', 'status', 'attemptCount', 'deliveredAt'],
  columns: ['deliveredAt', 'eventId', 'type', 'subject', 'status', 'attemptCount'],
  widths: { deliveredAt: 19, eventId: 8, type: 20, subject: 20 },
};
export const readiness: Resource = { fields: fields.Readiness };
/** What commands print when the service returns nothing. */
export const outcome: Resource = { fields: ['id', 'outcome'] };
export const profile: Resource = { fields: ['name', 'url', 'current'] };
export const login: Resource = { fields: ['profile', 'url', 'keyId', 'name', 'plan', 'scopes'] };
export const script: Resource = { fields: ['shell', 'script'] };
/** The body of a response, whose fields the command does not know. */
export const wholeBody: Resource = { fields: [] };
