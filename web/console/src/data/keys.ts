import type { ApiKey, NewApiKey } from '@petstore/client';
import { filled } from './lines.ts';
import type { Resource } from './resource.ts';

export const plans = ['free', 'pro', 'business', 'enterprise'] as const;

export const planNames: Record<ApiKey['plan'], string> = {
  free: 'Free',
  pro: 'Pro',
  business: 'Business',
  enterprise: 'Enterprise',
};

export const scopes = [
  'pets:read',
  'pets:write',
  'orders:read',
  'orders:write',
  'inventory:read',
  'inventory:write',
  'events:read',
  'webhooks:write',
  'admin',
] as const;

/** The most that a publishable key may do. */
export const publishableScopes: readonly ApiKey['scopes'][number][] = ['pets:read', 'inventory:read'];

export interface KeyQuery {
  name?: string | undefined;
  plan?: ApiKey['plan'] | undefined;
  /** Keys that work are shown without it. */
  show?: 'revoked' | 'all' | undefined;
}

const isRevoked = { revoked: true, all: undefined };

export const keys: Resource<ApiKey, KeyQuery> = {
  name: 'key',
  idOf: key => key.id,
  list: (store, { show, ...query }, options) =>
    store.keys.list({ ...query, revoked: show ? isRevoked[show] : false }, options),
  read: (store, id) => store.keys.get(id).withResponse(),
  create: (store, key) => store.keys.create(key as NewApiKey),
  update: (store, id, { origins, ...patch }, options) =>
    store.keys.update(id, { ...patch, ...(origins && { origins: filled(origins) }) }, options),
  remove: (store, id) => store.keys.revoke(id),
  matches: (key, { name = '', plan, show }) =>
    key.name.toLowerCase().startsWith(name.toLowerCase()) &&
    (plan === undefined || key.plan === plan) &&
    (show === 'all' || (key.revokedAt !== null) === (show === 'revoked')),
};
