import type { Reply, Route } from '../../src/contract/define-route.ts';
import type { Schema } from '../../src/contract/schema.ts';
import { routes } from '../../src/http/routes.ts';
import type { RouteServices } from '../../src/http/services.ts';

/** A route that answers with pages in an order that can be chosen. */
export interface ListRoute {
  route: Route<RouteServices>;
  filters: Readonly<Record<string, Schema>>;
  sorts: readonly string[];
}

export const lists: readonly ListRoute[] = routes.flatMap(route => {
  const { sort, limit, cursor, ...filters } = route.query?.properties ?? {};
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

/** Reads a page as a request with this query does, after it was found to be well-formed. */
export function readPage(
  { route }: ListRoute,
  query: object,
  services: Pick<RouteServices, 'db' | 'caller'>,
): Promise<Reply> {
  const handler = route.handler as (request: object, services: object) => Promise<Reply>;
  const keyLimits = { statesOf: async () => new Map() };
  const standing = { problem: undefined, isAdministrator: true };
  const readStandings = async (_db: unknown, keyIds: readonly number[]) =>
    new Map(keyIds.map(keyId => [keyId, standing]));
  const params = Object.fromEntries(Object.keys(route.params?.properties ?? {}).map(name => [name, 1]));
  return handler({ params, query }, { keyLimits, readStandings, now: 0, ...services });
}
