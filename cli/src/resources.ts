/** The items that commands print. */
export interface Resource {
  /** All fields of an item. */
  fields: readonly string[];
  /** The fields in a table; all fields unless set. */
  columns?: readonly string[];
  /** The widths of columns in a stream, whose first rows say nothing about later ones. */
  widths?: Readonly<Record<string, number>>;
}

const API_KEY = [
  'id',
  'name',
  'plan',
  'scopes',
  'kind',
  'quotas',
  'origins',
  'createdAt',
  'expiresAt',
  'revokedAt',
  'lastUsedAt',
  'ban',
];
const WEBHOOK = [
  'id',
  'url',
  'types',
  'description',
  'enabled',
  'createdBy',
  'disabledReason',
  'disabledAt',
  'failingSince',
  'createdAt',
];
const DELIVERY = [
  'id',
  'webhookId',
  'messageId',
  'eventId',
  'type',
  'subject',
  'status',
  'attemptCount',
  'nextAttemptAt',
  'createdAt',
  'finishedAt',
];
const EVENT = [
  'specversion',
  'id',
  'source',
  'time',
  'datacontenttype',
  'actor',
  'requestid',
  'traceparent',
  'type',
  'subject',
  'data',
];

export const pet: Resource = { fields: ['id', 'name', 'categoryId', 'status'] };
export const category: Resource = { fields: ['id', 'name', 'description'] };
export const order: Resource = { fields: ['id', 'petId', 'quantity', 'shipDate', 'complete'] };
export const stock: Resource = { fields: ['petId', 'quantity', 'status'] };
/** The columns that `petstore import` reads, in an order for people. */
export const exportedPet: Resource = {
  fields: ['id', 'name', 'category', 'categoryId', 'status', 'quantity'],
};
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
  fields: API_KEY,
  columns: ['id', 'name', 'plan', 'scopes', 'expiresAt', 'revokedAt', 'lastUsedAt'],
};
export const createdKey: Resource = {
  fields: [...API_KEY, 'key'],
  columns: ['id', 'name', 'plan', 'scopes', 'expiresAt', 'key'],
};
export const rotatedKey: Resource = {
  fields: [...API_KEY, 'earlierKeysExpireAt', 'key'],
  columns: ['id', 'name', 'earlierKeysExpireAt', 'key'],
};
export const usage: Resource = { fields: ['keyId', 'windows', 'days'] };
export const account: Resource = {
  fields: ['keyId', 'name', 'plan', 'scopes', 'expiresAt', 'ban', 'windows', 'days'],
};
export const event: Resource = {
  fields: EVENT,
  columns: ['id', 'time', 'type', 'subject', 'actor'],
  widths: { id: 8, time: 24, type: 20, subject: 20, actor: 8 },
};
export const webhook: Resource = {
  fields: WEBHOOK,
  columns: ['id', 'url', 'types', 'enabled', 'disabledReason', 'failingSince'],
};
export const createdWebhook: Resource = {
  fields: [...WEBHOOK, 'secret'],
  columns: ['id', 'url', 'types', 'secret'],
};
export const rotatedWebhook: Resource = {
  fields: [...WEBHOOK, 'earlierSecretExpiresAt', 'secret'],
  columns: ['id', 'url', 'earlierSecretExpiresAt', 'secret'],
};
export const delivery: Resource = {
  fields: DELIVERY,
  columns: ['id', 'eventId', 'type', 'subject', 'status', 'attemptCount', 'nextAttemptAt', 'finishedAt'],
};
export const deliveryDetails: Resource = { fields: [...DELIVERY, 'attempts'] };
export const replay: Resource = { fields: ['webhookId', 'cursor', 'latest'] };
export const forwarded: Resource = {
  fields: ['messageId', 'eventId', 'type', 'subject', 'status', 'attemptCount', 'deliveredAt'],
  columns: ['deliveredAt', 'eventId', 'type', 'subject', 'status', 'attemptCount'],
  widths: { deliveredAt: 24, eventId: 8, type: 20, subject: 20 },
};
export const readiness: Resource = { fields: ['status', 'message'] };
/** What commands print when the service returns nothing. */
export const outcome: Resource = { fields: ['id', 'outcome'] };
export const profile: Resource = { fields: ['name', 'url', 'current'] };
export const login: Resource = { fields: ['profile', 'url', 'keyId', 'name', 'plan', 'scopes'] };
export const script: Resource = { fields: ['shell', 'script'] };
