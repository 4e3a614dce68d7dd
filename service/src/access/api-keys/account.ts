import { id } from '../../contract/schema.ts';
import type { Static } from '../../contract/static.ts';
import { KeyUsage, usageExample } from '../rate-limits/key-usage.ts';
import { ApiKey } from './api-key.ts';

const { name, plan, scopes, expiresAt, ban } = ApiKey.properties;

/** A key and its usage, as returned to its holder. */
export const Account = {
  title: 'Account',
  type: 'object',
  required: ['keyId', 'name', 'plan', 'scopes', 'expiresAt', 'ban', 'windows', 'days'],
  additionalProperties: false,
  properties: {
    keyId: { ...id, description: 'The ID of the API key.' },
    name,
    plan,
    scopes,
    expiresAt,
    ban,
    windows: KeyUsage.properties.windows,
    days: KeyUsage.properties.days,
  },
  example: {
    keyId: 2,
    name: 'Web shop',
    plan: 'pro',
    scopes: ['pets:read', 'orders:write'],
    expiresAt: null,
    ban: null,
    ...usageExample,
  },
} as const;

export type Account = Static<typeof Account>;
