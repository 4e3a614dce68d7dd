import type { ApiKey } from '@petstore/client';

const DAY = 86_400_000;

export const planNames: Record<ApiKey['plan'], string> = {
  free: 'Free',
  pro: 'Pro',
  business: 'Business',
  enterprise: 'Enterprise',
};

export const kindNames: Record<ApiKey['kind'], string> = {
  secret: 'Secret',
  publishable: 'Publishable',
  test: 'Test',
};

/** The requests that a plan admits per minute and per day. An Enterprise key has quotas of its own. */
export const planLimits: Partial<Record<ApiKey['plan'], NonNullable<ApiKey['quotas']>>> = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
};

/** A plan as a choice: with the requests that it admits. */
export function planWithLimits(plan: ApiKey['plan']): string {
  const limits = planLimits[plan];
  const text = limits
    ? `${limits.perMinute.toLocaleString()} a minute, ${limits.perDay.toLocaleString()} a day`
    : 'limits of its own';
  return `${planNames[plan]}: ${text}`;
}

/** A plan, and its quotas if they are negotiated: `Enterprise (5,000 a minute, 1,000,000 a day)`. */
export function planInWords({ plan, quotas }: Pick<ApiKey, 'plan' | 'quotas'>): string {
  if (!quotas) return planNames[plan];
  const { perMinute, perDay } = quotas;
  return `${planNames[plan]} (${perMinute.toLocaleString()} a minute, ${perDay.toLocaleString()} a day)`;
}

/** What a scope allows. */
export const scopeNames: Record<ApiKey['scopes'][number], string> = {
  'pets:read': 'See animals and categories',
  'pets:write': 'Change animals and categories',
  'orders:read': 'See orders',
  'orders:write': 'Place and change orders',
  'inventory:read': 'See the stock',
  'inventory:write': 'Change the stock',
  'events:read': 'See events: changes of what the key may see, and by whom',
  'webhooks:write': 'Manage its own webhooks',
  admin: 'Everything, and manage keys',
};

const scopes = Object.keys(scopeNames) as ApiKey['scopes'];

/** What a page shows to a key that lacks the scopes for it. */
export function missingRights(name: string, missing: ApiKey['scopes']): string {
  const [rights, them] = missing.length === 1 ? ['right', 'it'] : ['rights', 'them'];
  const names = missing.map(scope => `“${scopeNames[scope]}”`).join(', ');
  return `“${name}” does not have the ${rights} ${names}. Ask an administrator for ${them}, and load the page again.`;
}

/** The most that a key of each kind may do. */
export const possibleScopes: Record<ApiKey['kind'], readonly ApiKey['scopes'][number][]> = {
  secret: scopes,
  publishable: ['pets:read', 'inventory:read'],
  test: scopes.filter(scope => scope !== 'admin' && scope !== 'webhooks:write'),
};

/** The part of its day, in percent, from which on a key is marked, and the days before its end. */
const WARNED_AT = 80;
const EXPIRY_DAYS = 14;

/** The part of its day that a key has used, in percent, if it is marked for that; `undefined` while it has enough left. */
export function usedPercent({ quotas, plan }: ApiKey, admitted: number): number | undefined {
  const limit = (quotas ?? planLimits[plan])?.perDay;
  return limit && admitted * 100 >= limit * WARNED_AT ? Math.floor((100 * admitted) / limit) : undefined;
}

/** Whether a key ends within 14 days. */
export function expiresSoon({ expiresAt }: ApiKey, now: number): boolean {
  return expiresAt !== null && Date.parse(expiresAt) - now <= EXPIRY_DAYS * DAY;
}

/** The days without a request after which a key is marked as unused. */
const UNUSED_DAYS = 90;

/** Whether a key that is not revoked has sent no request for 90 days. */
export function isUnused({ createdAt, lastUsedAt, revokedAt }: ApiKey, now: number): boolean {
  const days = (now - Date.parse(lastUsedAt ?? createdAt)) / DAY;
  return revokedAt === null && days >= UNUSED_DAYS;
}
