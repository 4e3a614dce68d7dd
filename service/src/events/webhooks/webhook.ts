import { ApiError } from '../../contract/errors.ts';
import { graceSeconds } from '../../contract/grace.ts';
import { patchOf } from '../../contract/patch.ts';
import { dateTime, id, longText } from '../../contract/schema.ts';
import type { Scope } from '../../contract/scopes.ts';
import { secretPrefixes } from '../../contract/secret-forms.ts';
import { shape } from '../../contract/shape.ts';
import type { Static } from '../../contract/static.ts';
import { DAY } from '../../kit/clock.ts';
import { formatDateTime } from '../../kit/dates.ts';
import { keysOf } from '../../kit/objects.ts';
import { lackOf, typeNames, typesOf } from '../event-log/event-filter.ts';
import { TEST_TYPE } from '../event-log/event-types.ts';
import type { WebhookRow } from './webhook-queries.ts';

/** The maximum number of characters of a URL, both as sent and in its parsed form. */
export const MAX_URL_LENGTH = 2_000;

const fields = {
  url: {
    type: 'string',
    minLength: 1,
    maxLength: MAX_URL_LENGTH,
    format: 'uri',
    description:
      'Where events are sent: an HTTPS URL with a public address, without a user name, a password or a fragment. It is stored ' +
      'in its parsed form.',
  },
  types: {
    ...typeNames,
    uniqueItems: true,
    nullable: true,
    description:
      'The types of events to send; `order.*` means all types that start with `order.`. The API key needs the scopes of ' +
      'all of them. Null means all events that the key may read. Every webhook also gets `log.restored`.',
  },
  description: { ...longText, description: 'What the webhook is for.' },
  enabled: {
    type: 'boolean',
    description: 'Whether events are sent. Events that happen while it is false are sent later.',
  },
} as const;

const readOnlyFields = {
  createdBy: {
    ...id,
    readOnly: true,
    description:
      'The ID of the API key that created the webhook. The webhook works only while that key works.',
  },
  disabledReason: {
    type: 'string',
    maxLength: 500,
    nullable: true,
    readOnly: true,
    description: 'Why the service disabled the webhook; null if it did not.',
  },
  disabledAt: { ...dateTime, nullable: true, readOnly: true, description: 'When the webhook was disabled.' },
  failingSince: {
    ...dateTime,
    nullable: true,
    readOnly: true,
    description:
      'When the first attempt after the last success failed. Test events do not count. A new `url`, or enabling the webhook, clears it.',
  },
  createdAt: { ...dateTime, readOnly: true, description: 'When the webhook was created.' },
} as const;

const idField = { ...id, readOnly: true, description: 'Unique identifier assigned on creation.' } as const;

/** The body of POST and PUT. It may have the read-only fields, so that clients can send back a webhook that they have read. */
export const NewWebhook = shape({
  title: 'NewWebhook',
  properties: {
    id: idField,
    ...fields,
    enabled: { ...fields.enabled, default: true },
    ...readOnlyFields,
  },
  optional: ['id', 'types', 'description', 'enabled', ...keysOf(readOnlyFields)],
  example: { url: 'https://example.com/petstore', types: ['order.*'], description: 'The warehouse' },
});

const resourceFields = { id: idField, ...fields, ...readOnlyFields } as const;

const example = {
  id: 1,
  createdBy: 2,
  ...NewWebhook.example,
  enabled: true,
  disabledReason: null,
  disabledAt: null,
  failingSince: null,
  createdAt: '2026-11-21T12:00:00.000Z',
};

export const Webhook = shape({
  title: 'Webhook',
  properties: resourceFields,
  optional: ['description'],
  example,
});

export const WebhookPatch = patchOf(Webhook, ['description'], { enabled: false });

const secret = {
  type: 'string',
  maxLength: 100,
  pattern: `^${secretPrefixes.webhook}[A-Za-z0-9+/]+={0,2}$`,
  readOnly: true,
  description:
    'The key for signatures (Standard Webhooks): `whsec_` and base64. It is shown only in this response; a repeated request ' +
    'with the same `Idempotency-Key` does not return it.',
} as const;

const exampleSecret = 'whsec_VGhpcyBpcyBhbiBleGFtcGxlLCBub3QgYSBzZWNyZXQ=';

export const CreatedWebhook = shape({
  title: 'CreatedWebhook',
  properties: { ...resourceFields, secret },
  optional: ['description', 'secret'],
  example: { ...example, secret: exampleSecret },
});

export const RotatedWebhook = shape({
  title: 'RotatedWebhook',
  properties: {
    ...resourceFields,
    earlierSecretExpiresAt: {
      ...dateTime,
      description: 'Until this time messages are also signed with the earlier secret.',
    },
    secret,
  },
  optional: ['description', 'secret'],
  example: { ...example, earlierSecretExpiresAt: '2026-11-21T13:00:00.000Z', secret: exampleSecret },
});

export const SecretRotation = shape({
  title: 'SecretRotation',
  properties: {
    graceSeconds: graceSeconds(
      7 * DAY,
      'How long messages are also signed with the earlier secret, in seconds; 0 ends that at once.',
    ),
  },
  optional: ['graceSeconds'],
  example: { graceSeconds: 3_600 },
});

export type Webhook = Static<typeof Webhook>;
export type SecretRotation = Static<typeof SecretRotation>;

/** The settings of a webhook. */
export type WebhookSettings = Pick<Static<typeof NewWebhook>, 'url' | 'types' | 'description' | 'enabled'>;

export function toWebhook(row: WebhookRow): Webhook {
  return {
    id: row.id,
    createdBy: row.api_key_id,
    url: row.url,
    types: row.types?.split(' ') ?? null,
    ...(row.description !== null && { description: row.description }),
    enabled: row.enabled === 1,
    disabledReason: row.disabled_reason,
    disabledAt: row.disabled_at === null ? null : formatDateTime(row.disabled_at),
    failingSince: row.failing_since === null ? null : formatDateTime(row.failing_since),
    createdAt: formatDateTime(row.created_at),
  };
}

/**
 * Throws `insufficient_scope` for event types that the key of the webhook may not read, and `invalid_request` for unknown types
 * and for tests.
 */
export function rejectUnreadable(
  types: readonly string[] | null | undefined,
  { keyId, scopes }: { keyId: number; scopes: ReadonlySet<Scope> },
): void {
  const wanted = types?.flatMap(typesOf) ?? [];
  if (types?.includes(TEST_TYPE)) {
    throw new ApiError(
      'invalid_request',
      `Field \`types\` must not contain \`${TEST_TYPE}\`: a test is sent only to the webhook that is tested, regardless of its types`,
    );
  }
  const lack = lackOf(wanted, scopes);
  if (lack === undefined) return;
  throw new ApiError(
    'insufficient_scope',
    `API key ${keyId}, to which the webhook belongs, lacks the ${lack}: leave these types out, or ask an administrator to ` +
      'change the key',
  );
}
