import type { ApiKey, CallOptions, NewApiKey, PetStore } from '@petstore/client';
import { filled, filledOrNull } from './lines.ts';
import { LARGEST_PAGE, type PageQuery, type Pages, type Resource } from './resource.ts';

export const plans = ['free', 'pro', 'business', 'enterprise'] as const;

export interface KeyQuery {
  name?: string | undefined;
  plan?: ApiKey['plan'] | undefined;
  /** Keys that work are shown without it. */
  show?: 'revoked' | 'all' | undefined;
  /** Only the keys with the most requests today, in this order. */
  order?: 'busiest' | undefined;
}

/** The most keys that the service lists by their requests today. */
export const MOST_BUSY = 100;

/** How many pages are searched for the busiest keys at most. */
const PAGES_OF_BUSIEST = 10;

const isRevoked = { revoked: true, all: undefined };

export const keys: Resource<ApiKey, KeyQuery> = {
  name: 'key',
  // Its requests, and the end of a ban.
  isSilent: true,
  idOf: key => key.id,
  list: (store, { order, ...query }, options) =>
    order === undefined ? listed(store, query, options) : busiestOf(store, query, options),
  read: (store, id) => store.keys.get(id).withResponse(),
  create: (store, key) => store.keys.create(key as NewApiKey),
  update: (store, id, patch, options) => store.keys.update(id, patchOf(patch), options),
  patchOf,
  fixed: key => (key.revokedAt === null ? [] : (Object.keys(key) as (keyof ApiKey)[])),
  remove: (store, id, options) => store.keys.revoke(id, options),
  matches: (key, { name = '', plan, show, order }) =>
    order === undefined &&
    key.name.toLowerCase().startsWith(name.toLowerCase()) &&
    (plan === undefined || key.plan === plan) &&
    (show === 'all' || (key.revokedAt !== null) === (show === 'revoked')),
};

/** Lines without text are no values. */
function patchOf({ origins, allowedNetworks, ...patch }: Partial<ApiKey>) {
  return {
    ...patch,
    ...(origins && { origins: filled(origins) }),
    ...(allowedNetworks !== undefined && { allowedNetworks: filledOrNull(allowedNetworks) }),
  };
}

function listed(store: PetStore, { show, ...query }: KeyQuery & PageQuery, options?: CallOptions) {
  return store.keys.list({ ...query, revoked: show ? isRevoked[show] : false }, options);
}

/** One page. The service returns which keys are the busiest, but not their settings, so their entries are searched in the list of keys. */
function busiestOf(
  store: PetStore,
  { name, plan, show }: KeyQuery & PageQuery,
  options?: CallOptions,
): Pages<ApiKey> {
  return {
    async *pages() {
      const busiest = (await store.keys.busiest({ limit: MOST_BUSY }, options)).keys;
      const rank = new Map(busiest.map(({ keyId }, i) => [keyId, i]));
      const rankOf = ({ id }: ApiKey) => rank.get(id)!;
      const found: ApiKey[] = [];
      let pages = 0;
      for await (const { data } of listed(
        store,
        { name, plan, show, limit: LARGEST_PAGE },
        options,
      ).pages()) {
        found.push(...data.filter(({ id }) => rank.has(id)));
        if (found.length === rank.size || ++pages === PAGES_OF_BUSIEST) break;
      }
      found.sort((a, b) => rankOf(a) - rankOf(b));
      yield { data: found, headers: new Headers(), nextCursor: undefined };
    },
  };
}
