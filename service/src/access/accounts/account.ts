import { id } from '../../contract/schema.ts';
import { shape } from '../../contract/shape.ts';
import type { Static } from '../../contract/static.ts';
import { ApiKey } from '../api-keys/api-key.ts';
import { PlanRequest } from '../plan-requests/plan-request.ts';
import { KeyUsage, usageExample } from '../rate-limits/key-usage.ts';

const { name, kind, plan, scopes, expiresAt, ban } = ApiKey.properties;

/** A key and its usage, as returned to its holder. */
export const Account = shape({
  title: 'Account',
  properties: {
    keyId: { ...id, description: 'The ID of the API key.' },
    name,
    kind,
    plan,
    scopes,
    expiresAt,
    ban,
    windows: KeyUsage.properties.windows,
    days: KeyUsage.properties.days,
    warnings: KeyUsage.properties.warnings,
    // A name of its own: the component with this name is never null.
    planRequest: { ...PlanRequest, title: 'NewestPlanRequest', nullable: true },
  },
  example: {
    keyId: 2,
    name: 'Web shop',
    kind: 'secret',
    plan: 'pro',
    scopes: ['pets:read', 'orders:write'],
    expiresAt: null,
    ban: null,
    ...usageExample,
    planRequest: null,
  },
});

export type Account = Static<typeof Account>;
