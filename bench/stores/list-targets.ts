import { pageLimit, type Schema } from '../../service/src/contract/schema.ts';
import { describedRoutes } from '../../service/src/described-routes.ts';
import { encodeCursor } from '../../service/src/kit/paging.ts';
import { type Client, respond } from '../harness/http.ts';
import { MANY_ROWS } from './fill-shop.ts';

/**
 * The values of every filter. Many rows of a filled store match the first ones, alone and together. Others match nothing, or only rows
 * at the end, or nearly everything.
 */
const VALUES: Record<string, readonly string[]> = {
  'listPets id': [hundred('id')],
  'listPets status': ['available&status=sold', 'available', 'pending'],
  'listPets categoryId': ['1', '2', '3', '999'],
  'listPets name': ['z', 'zz', '0'],
  'listCategories name': ['a', 'q'],
  'listOrders petId': ['1&petId=2&petId=3', '1', '3', hundred('petId')],
  'listOrders complete': ['true', 'false'],
  'listOrders shipDateFrom': ['2020-01-01T00:00:00Z', '2030-01-01T00:00:00Z'],
  'listOrders shipDateTo': ['2030-01-01T00:00:00Z', '2020-01-01T00:00:00Z'],
  'listInventory petId': [hundred('petId')],
  'listInventory status': ['available&status=sold', 'available', 'pending'],
  'listInventory categoryId': ['1', '2', '999'],
  'listInventory quantityBelow': ['100', '0', '1', '2'],
  'listApiKeys name': ['a', 'zz'],
  'listApiKeys plan': ['free', 'pro'],
  'listApiKeys revoked': ['true', 'false'],
  'listEvents type': ['category.created', 'order.*', 'pet.*'],
  'listEvents from': ['2020-01-01T00:00:00Z', '2030-01-01T00:00:00Z'],
  'listEvents to': ['2020-01-01T00:00:00Z', '2030-01-01T00:00:00Z'],
  'listEvents subject': ['pets/1', 'store/orders/999999999'],
  'listEvents actor': ['keys/1', 'keys/999999999'],
  'listHistory type': ['category.created', 'order.*', 'pet.*'],
  'listHistory from': ['2020-01-01T00:00:00Z', '2030-01-01T00:00:00Z'],
  'listHistory to': ['2020-01-01T00:00:00Z', '2030-01-01T00:00:00Z'],
  'listHistory subject': ['pets/1', 'pets/999999999'],
  'listHistory related': ['true', 'false'],
  'listHistory actor': ['keys/1', 'keys/999999999'],
  'listPlanRequests keyId': ['1', '999999999'],
  'listPlanRequests status': ['open', 'approved', 'declined'],
  'listWebhookDeliveries status': ['pending', 'delivered', 'dead'],
};

/** The parameters that are not filters of a list. */
const PAGING = ['q', 'sort', 'limit', 'cursor', 'count', 'wait'];

/** The most values that a filter by IDs takes: those of the first pets, and of the last two. */
function hundred(name: string): string {
  const ids = Array.from({ length: 98 }, (_, i) => i + 1);
  return [...ids, MANY_ROWS - 1, MANY_ROWS].join(`&${name}=`);
}

interface List {
  /** A template, such as `/webhooks/{webhookId}/deliveries`. */
  path: string;
  /** The query of every combination of filters and sorts, without a limit. */
  queries: string[];
}

/** Returns all lists in the route definitions. With `common`, each filter has only the value that many rows match. */
export function lists({ common = false } = {}): List[] {
  return describedRoutes
    .filter(({ success }) => success.schema?.type === 'array')
    .map(({ operationId, path, query }) => ({
      path,
      queries: combinations(operationId, query?.properties ?? {}, common),
    }));
}

function combinations(
  operationId: string,
  properties: Readonly<Record<string, Schema>>,
  common: boolean,
): string[] {
  const choices = Object.keys(properties)
    .filter(name => !PAGING.includes(name))
    .map(name => {
      const values = VALUES[`${operationId} ${name}`];
      if (!values) throw new Error(`Add values for the filter \`${name}\` of ${operationId} to VALUES`);
      return [[], ...values.slice(0, common ? 1 : values.length).map(value => [`${name}=${value}`])];
    });
  // The default sort is one of the values.
  const sorts = properties.sort?.enum?.map(sort => [`sort=${sort}`]) ?? [[]];
  return product([...choices, sorts]).map(parts => parts.flat().join('&'));
}

function product<T>(sets: T[][]): T[][] {
  return sets.reduce<T[][]>((all, set) => all.flatMap(before => set.map(item => [...before, item])), [[]]);
}

/** Returns a target without the values of long filters. */
export function shortened(target: string): string {
  return target.replace(/(\w+=)\d+(&\1\d+){9,}/g, '$1…');
}

/** Returns what reads a page and resolves with the `Link` header. */
export function readLink(client: Client): (target: string) => Promise<string> {
  return async target => {
    const response = await respond(client, 'GET', target);
    response.resume();
    if (response.statusCode !== 200) throw new Error(`GET ${target}: ${response.statusCode}`);
    return String(response.headers.link);
  };
}

/**
 * Returns the target of a full page at the end of a list, or far in the log of events: the key in its cursor is that of a page in
 * the opposite order. `undefined` if the list has too few rows.
 */
export async function lastPage(
  read: ReturnType<typeof readLink>,
  target: string,
): Promise<string | undefined> {
  const cursor = nextCursor(await read(target));
  if (cursor === undefined) return undefined;
  if (/^\d+$/.test(cursor)) return `${target}&cursor=${MANY_ROWS * 0.7}`;
  const backwards = target
    .replace(/sort=(-?)/, (_, minus) => (minus ? 'sort=' : 'sort=-'))
    .replace(/limit=(\d+)/, (_, limit) => `limit=${Math.min(2 * limit, pageLimit.maximum)}`);
  const end = nextCursor(await read(backwards));
  if (end === undefined) return undefined;
  const [digest] = partsOf(cursor);
  const [, ...key] = partsOf(end);
  return `${target}&cursor=${encodeCursor(digest!, key)}`;
}

function nextCursor(link: string): string | undefined {
  return /[?&]cursor=([\w-]+)[^>]*>; rel="next"/.exec(link)?.[1];
}

/** The digest of the sort and the filters, and the key of the last row. */
function partsOf(cursor: string): string[] {
  return JSON.parse(Buffer.from(cursor, 'base64url').toString());
}
