import { ApiError } from '../../contract/errors.ts';
import { graceSeconds } from '../../contract/grace.ts';
import { type KeyKind, keyKinds } from '../../contract/key-kinds.ts';
import { count, dateTime, id, nameText, type Schema } from '../../contract/schema.ts';
import { scopeNames } from '../../contract/scopes.ts';
import { shape } from '../../contract/shape.ts';
import type { Static } from '../../contract/static.ts';
import { DAY } from '../../kit/clock.ts';
import { mergePatch } from '../../kit/merge-patch.ts';
import { type Limits, type Plan, planLimits, plans } from '../plans/plan.ts';
import { Ban } from '../rate-limits/key-usage.ts';
import { CLIENT_LENGTH } from '../rate-limits/key-uses.ts';
import { MAX_NETWORKS } from './networks.ts';
import { MAX_ORIGIN_LENGTH, MAX_ORIGINS, ORIGIN } from './origins.ts';

const quota = { ...count, minimum: 1 } as const;

const quotasPatch = {
  type: 'object',
  description: 'The negotiated limits of an Enterprise key; keys of other plans have none.',
  additionalProperties: false,
  properties: {
    perMinute: { ...quota, description: 'Requests per UTC minute.' },
    perDay: { ...quota, description: 'Requests per UTC day.' },
  },
} as const;

const quotas = { ...quotasPatch, required: ['perMinute', 'perDay'] } as const;

const fields = {
  name: { ...nameText, description: 'Who or what uses the key.' },
  plan: { type: 'string', enum: plans, description: 'The plan whose limits apply.' },
  scopes: {
    type: 'array',
    items: { type: 'string', enum: scopeNames },
    minItems: 1,
    maxItems: scopeNames.length,
    uniqueItems: true,
    description: 'What the key may do.',
  },
} as const;

const kind = {
  type: 'string',
  enum: keyKinds,
  description:
    'Whether the key is secret; publishable: part of pages in browsers; or for tests. A publishable key has at most the scopes ' +
    '`pets:read` and `inventory:read`, and the address of each visitor has the limits of the Free plan under the key. The writes of a ' +
    'test key are executed, checked and undone; it has the plan `free`, and neither `admin` nor `webhooks:write`.',
} as const;

const origins = {
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength: MAX_ORIGIN_LENGTH, pattern: ORIGIN, strictPattern: '' },
  minItems: 1,
  maxItems: MAX_ORIGINS,
  uniqueItems: true,
  description:
    'The origins of the pages that use a publishable key, exactly as browsers send them in the header `Origin`: scheme, host, ' +
    'and port if it is not the default, in lower case. Only pages of the same machine, such as `http://localhost:3000`, can ' +
    'use http.',
} as const;

const allowedNetworks = {
  type: 'array',
  items: { type: 'string', minLength: 2, maxLength: 43 },
  minItems: 1,
  maxItems: MAX_NETWORKS,
  uniqueItems: true,
  description:
    'The networks from which the key can be used: addresses, or ranges of addresses such as `203.0.113.0/24` and `2001:db8::/32`. ' +
    'Requests from elsewhere are rejected with 403 `address_not_allowed`.',
} as const;

export const NewApiKey = shape({
  title: 'NewApiKey',
  properties: {
    ...fields,
    kind: { ...kind, description: `${kind.description} Without a value it is secret.` },
    quotas,
    expiresAt: { ...dateTime, description: 'When the key expires. Without a value it does not expire.' },
    origins: {
      ...origins,
      description: `${origins.description} Required for a publishable key, and rejected for others.`,
    },
    allowedNetworks: {
      ...allowedNetworks,
      description: `${allowedNetworks.description} Without a value the key can be used from everywhere.`,
    },
  },
  optional: ['kind', 'quotas', 'expiresAt', 'origins', 'allowedNetworks'],
  example: { name: 'Web shop', plan: 'pro', scopes: ['pets:read', 'orders:write'] },
});

const { quotas: _onlyForEnterprise, ...fieldsOfAnyPlan } = NewApiKey.properties;

/** NewApiKey as it is published: `quotas` are required for plan `enterprise`, and do not exist for other plans. */
export const newKeyShapes: readonly Schema[] = [
  {
    ...NewApiKey,
    properties: {
      ...fieldsOfAnyPlan,
      plan: { ...fields.plan, enum: plans.filter(plan => plan !== 'enterprise') },
    },
  },
  {
    ...NewApiKey,
    title: 'NewEnterpriseApiKey',
    required: [...NewApiKey.required, 'quotas'],
    properties: { ...NewApiKey.properties, plan: { ...fields.plan, enum: ['enterprise'] } },
    example: { ...NewApiKey.example, plan: 'enterprise', quotas: { perMinute: 5_000, perDay: 1_000_000 } },
  },
];

export const ApiKeyPatch = {
  title: 'ApiKeyPatch',
  type: 'object',
  additionalProperties: false,
  properties: {
    ...fields,
    quotas: { ...quotasPatch, nullable: true },
    expiresAt: {
      ...dateTime,
      nullable: true,
      description: 'When the key expires; null for never.',
    },
    origins,
    allowedNetworks: {
      ...allowedNetworks,
      nullable: true,
      description: `${allowedNetworks.description} Null for everywhere.`,
    },
  } satisfies { readonly [Field in keyof ApiKey]?: Schema },
  example: { plan: 'business' },
} as const;

export const Rotation = shape({
  title: 'Rotation',
  properties: {
    graceSeconds: graceSeconds(
      30 * DAY,
      'How long the earlier secret continues to work, in seconds; 0 ends it at once.',
    ),
  },
  optional: ['graceSeconds'],
  example: { graceSeconds: 3_600 },
});

const resourceFields = {
  id: { ...id, readOnly: true, description: 'Unique identifier assigned on creation.' },
  ...fields,
  kind,
  quotas: { ...quotas, nullable: true },
  origins: {
    ...origins,
    nullable: true,
    description: `${origins.description} In alphabetical order; null for other keys.`,
  },
  allowedNetworks: {
    ...allowedNetworks,
    nullable: true,
    description: `${allowedNetworks.description} Null for everywhere.`,
  },
  createdAt: { ...dateTime, description: 'When the key was created.' },
  expiresAt: { ...dateTime, nullable: true, description: 'When the key expires; null for never.' },
  revokedAt: { ...dateTime, nullable: true, description: 'When the key was revoked.' },
  lastUsedAt: {
    ...dateTime,
    nullable: true,
    description:
      'The minute of the last request, including rejected ones. Requests to `/account` do not count.',
  },
  lastUsedFrom: {
    type: 'string',
    maxLength: 50,
    nullable: true,
    description:
      'The address of the first request in that minute at one of the replicas, a few seconds later. Null before the first use.',
  },
  lastUsedClient: {
    type: 'string',
    maxLength: CLIENT_LENGTH,
    nullable: true,
    description: 'The first 200 characters of the header `User-Agent` of that request. Null if it had none.',
  },
  ban: { ...Ban, nullable: true },
} as const;

const example = {
  id: 2,
  name: 'Web shop',
  plan: 'pro',
  scopes: ['pets:read', 'orders:write'],
  kind: 'secret',
  quotas: null,
  origins: null,
  allowedNetworks: null,
  createdAt: '2026-11-21T09:00:00.000Z',
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: '2026-11-21T12:00:00.000Z',
  lastUsedFrom: '203.0.113.7',
  lastUsedClient: 'petstore-client/1.0.0',
  ban: null,
};

export const ApiKey = shape({
  title: 'ApiKey',
  properties: resourceFields,
  example,
});

const secret = {
  type: 'string',
  maxLength: 100,
  pattern: '^psk_[0-9A-Za-z_]+$',
  readOnly: true,
  description: 'The secret. It is shown only once: a replay with an Idempotency-Key does not include it.',
} as const;

const exampleSecret = 'psk_ThisIsOnlyAnExampleAndNoSecretKey0001X';

export const CreatedApiKey = shape({
  title: 'CreatedApiKey',
  properties: { ...resourceFields, key: secret },
  optional: ['key'],
  example: { ...example, lastUsedAt: null, lastUsedFrom: null, lastUsedClient: null, key: exampleSecret },
});

export const RotatedApiKey = shape({
  title: 'RotatedApiKey',
  properties: {
    ...resourceFields,
    earlierKeysExpireAt: { ...dateTime, description: 'When the earlier secrets expire.' },
    key: secret,
  },
  optional: ['key'],
  example: { ...example, earlierKeysExpireAt: '2026-11-21T13:00:00.000Z', key: exampleSecret },
});

export type ApiKey = Static<typeof ApiKey>;
export type NewApiKey = Static<typeof NewApiKey>;
export type Rotation = Static<typeof Rotation>;

/** The settings of a key as in a request: a missing value is absent instead of null. */
export type ApiKeySettings = Omit<NewApiKey, 'kind'> & { kind: KeyKind };

/** Applies a merge patch to the settings of a key. A change to another plan than Enterprise removes existing quotas. */
export function changedSettings(
  { name, kind, plan, scopes, quotas, origins, allowedNetworks, expiresAt }: ApiKey,
  patch: Static<typeof ApiKeyPatch>,
): ApiKeySettings {
  const keepsQuotas = (patch.plan ?? plan) === 'enterprise';
  return mergePatch(
    {
      name,
      kind,
      plan,
      scopes,
      ...(origins && { origins }),
      ...(allowedNetworks && { allowedNetworks }),
      ...(quotas && keepsQuotas && { quotas }),
      ...(expiresAt !== null && { expiresAt }),
    },
    patch,
  );
}

/** Returns the limits of a key: those of its plan, or its negotiated ones. */
export function limitsOf(plan: Plan, quotas: Limits | null): Limits {
  return plan === 'enterprise' ? quotas! : planLimits[plan];
}

/** Throws `invalid_request` unless the quotas match the plan: Enterprise requires them, and other plans allow none. */
export function rejectMismatchedQuotas(plan: Plan, quotas: Partial<Limits> | undefined): void {
  if (plan === 'enterprise' && (quotas?.perMinute === undefined || quotas.perDay === undefined)) {
    throw new ApiError(
      'invalid_request',
      'Plan `enterprise` requires `quotas` with `perMinute` and `perDay`',
    );
  }
  if (plan !== 'enterprise' && quotas) {
    throw new ApiError(
      'invalid_request',
      `Field \`quotas\` is for plan \`enterprise\` only, not for \`${plan}\``,
    );
  }
}
