import type { Schema } from '../../src/contract/schema.ts';
import type { Database } from '../../src/db/database.ts';
import { type FeatureServices, featuresOf, routesOf } from '../../src/features.ts';
import { type Caller, Context } from '../../src/routes/context.ts';
import type { AnyContext, Route } from '../../src/routes/define-route.ts';
import type { Reply } from '../../src/routes/reply.ts';

/** A route that returns pages in an order that the client chooses. */
export interface ListRoute {
  route: Route;
  filters: Readonly<Record<string, Schema>>;
  sorts: readonly string[];
}

const standing = { ended: undefined, scopes: new Set(['admin']) };

/** The services that lists use, in addition to the store. */
const services = {
  keyLimits: { statesOf: async () => new Map() },
  readStandings: async (_db: unknown, keyIds: readonly number[]) =>
    new Map(keyIds.map(keyId => [keyId, { keyId, ...standing }])),
};

export const lists: readonly ListRoute[] = routesOf(
  featuresOf(services as unknown as FeatureServices),
).flatMap(route => {
  const { q, sort, limit, cursor, count, ...filters } = route.query?.properties ?? {};
  return sort && limit && cursor ? [{ route, filters, sorts: sort.enum! }] : [];
});

/** Every set of a list's filters, with each sort and with none. */
export function combinationsOf({
  filters,
  sorts,
}: ListRoute): { filters: string[]; sort: string | undefined }[] {
  const sets = Object.keys(filters).reduce<string[][]>(
    (sets, filter) => sets.flatMap(set => [set, [...set, filter]]),
    [[]],
  );
  return sets.flatMap(set => [undefined, ...sorts].map(sort => ({ filters: set, sort })));
}

/** Reads a page like a valid request of `caller` with this query. */
export function readPage(
  { route }: ListRoute,
  query: object,
  { db, caller }: { db: Database; caller: Caller },
): Promise<Reply> {
  const params = Object.fromEntries(Object.keys(route.params?.properties ?? {}).map(name => [name, 1]));
  const request = { receivedAt: 0, caller, headers: {} };
  const context = new Context(request as never, {} as never, params, query, {}, db);
  return route.handler(context as AnyContext);
}
