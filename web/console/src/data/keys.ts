import type { ApiKey, NewApiKey } from '@petstore/client';
import { filled, filledOrNull } from './lines.ts';
import type { Resource } from './resource.ts';

export const plans = ['free', 'pro', 'business', 'enterprise'] as const;

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
  update: (store, id, { origins, allowedNetworks, ...patch }, options) =>
    store.keys.update(
      id,
      {
        ...patch,
        ...(origins && { origins: filled(origins) }),
        ...(allowedNetworks !== undefined && { allowedNetworks: filledOrNull(allowedNetworks) }),
      },
      options,
    ),
  remove: (store, id, options) => store.keys.revoke(id, options),
  matches: (key, { name = '', plan, show }) =>
    key.name.toLowerCase().startsWith(name.toLowerCase()) &&
    (plan === undefined || key.plan === plan) &&
    (show === 'all' || (key.revokedAt !== null) === (show === 'revoked')),
};
