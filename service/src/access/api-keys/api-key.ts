import { ApiError } from '../../contract/errors.ts';
import { dateTime, id, nameText } from '../../contract/schema.ts';
import { type Scope, scopeNames } from '../../contract/scopes.ts';
import type { Static } from '../../contract/static.ts';
import { type Limits, type Plan, planLimits, plans } from '../plans/plan.ts';

const quota = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;

const quotas = {
  type: 'object',
  description: 'The negotiated limits of an Enterprise key; other plans have none of their own.',
  required: ['perMinute', 'perDay'],
  additionalProperties: false,
  properties: {
    perMinute: { ...quota, description: 'Requests per UTC minute.' },
    perDay: { ...quota, description: 'Requests per UTC day.' },
  },
} as const;

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

export const NewApiKey = {
  title: 'NewApiKey',
  type: 'object',
  required: ['name', 'plan', 'scopes'],
  additionalProperties: false,
  properties: {
    ...fields,
    quotas,
    expiresAt: { ...dateTime, description: 'From this instant on the key is refused; never when left out.' },
  },
  example: { name: 'Web shop', plan: 'pro', scopes: ['pets:read', 'orders:write'] },
} as const;

const resourceFields = {
  id: { ...id, readOnly: true, description: 'Unique identifier assigned on creation.' },
  ...fields,
  quotas: { ...quotas, nullable: true },
  createdAt: { ...dateTime, description: 'When the key was created.' },
  expiresAt: { ...dateTime, nullable: true, description: 'From this instant on the key is refused.' },
  revokedAt: { ...dateTime, nullable: true, description: 'When the key was revoked.' },
} as const;

const example = {
  id: 2,
  name: 'Web shop',
  plan: 'pro',
  scopes: ['pets:read', 'orders:write'],
  quotas: null,
  createdAt: '2026-11-21T09:00:00.000Z',
  expiresAt: null,
  revokedAt: null,
};

const required = ['id', 'name', 'plan', 'scopes', 'quotas', 'createdAt', 'expiresAt', 'revokedAt'] as const;

export const ApiKey = {
  title: 'ApiKey',
  type: 'object',
  required,
  additionalProperties: false,
  properties: resourceFields,
  example,
} as const;

export const CreatedApiKey = {
  title: 'CreatedApiKey',
  type: 'object',
  required,
  additionalProperties: false,
  properties: {
    ...resourceFields,
    key: {
      type: 'string',
      readOnly: true,
      description:
        'The secret itself. It is shown only now; a replay under an Idempotency-Key leaves it out.',
    },
  },
  example: { ...example, key: 'psk_<32 characters><6 characters of checksum>' },
} as const;

export type NewApiKey = Static<typeof NewApiKey>;

export interface ApiKey {
  id: number;
  name: string;
  plan: Plan;
  scopes: Scope[];
  quotas: Limits | null;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
}

/** The limits of a key: those of its plan, or the ones negotiated for it. */
export function limitsOf(plan: Plan, quotas: Limits | null): Limits {
  return plan === 'enterprise' ? quotas! : planLimits[plan];
}

/** Enterprise is the plan whose limits are negotiated: it needs quotas, and no other plan takes them. */
export function refuseMismatchedQuotas(plan: Plan, quotas: Limits | undefined): void {
  if (plan === 'enterprise' && !quotas) {
    throw new ApiError('invalid_request', 'Plan `enterprise` needs `quotas` with `perMinute` and `perDay`');
  }
  if (plan !== 'enterprise' && quotas) {
    throw new ApiError(
      'invalid_request',
      `\`quotas\` go with plan \`enterprise\` only, not with \`${plan}\``,
    );
  }
}
