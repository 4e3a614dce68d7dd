import type { Schema } from '../../service/src/contract/schema.ts';
import { describedRoutes } from '../../service/src/described-routes.ts';
import { type RawRequest, rawRequest } from './exchange.ts';
import { type FilledStore, nameOf, PETS, SHIPPED } from './fill-store.ts';

/**
 * The values of every filter: some match nothing, some match only rows at the end, some match nearly everything.
 */
const VALUES: Record<string, readonly string[]> = {
  'listPets id': ['1000000&id=1&id=999999'],
  'listPets status': ['available', 'pending', 'sold&status=pending'],
  'listPets categoryId': ['1', '2', '3', '999'],
  'listPets name': ['a', 'zz', 'q'],
  'listCategories name': ['a', 'q'],
  'listOrders petId': ['1', '3', hundred('petId')],
  'listOrders complete': ['true', 'false'],
  'listOrders shipDateFrom': ['2020-01-01T00:00:00Z', '2030-01-01T00:00:00Z'],
  'listOrders shipDateTo': ['2020-01-01T00:00:00Z', '2030-01-01T00:00:00Z'],
  'listInventory petId': [hundred('petId')],
  'listInventory status': ['available', 'pending', 'sold&status=pending'],
  'listInventory categoryId': ['1', '2', '999'],
  'listInventory quantityBelow': ['0', '1', '2', '100'],
  'listApiKeys name': ['a', 'zz'],
  'listApiKeys plan': ['free', 'pro'],
  'listApiKeys revoked': ['true', 'false'],
  'listEvents type': ['category.created', 'order.*', 'pet.*'],
  'listEvents from': ['2020-01-01T00:00:00Z', '2030-01-01T00:00:00Z'],
  'listEvents to': ['2020-01-01T00:00:00Z', '2030-01-01T00:00:00Z'],
  'listEvents subject': ['pets/1', 'store/orders/999999999'],
  'listWebhookDeliveries status': ['pending', 'delivered', 'dead'],
};

/** The most values that a filter by IDs takes. */
function hundred(name: string): string {
  return Array.from({ length: 100 }, (_, i) => i + 1).join(`&${name}=`);
}

/** The parameters that are not filters of a list. */
const PAGING = ['q', 'sort', 'limit', 'cursor', 'count', 'wait'];

const LIMIT = 100;

export interface ListRequest extends RawRequest {
  operationId: string;
  target: string;
}

/** Returns requests for the first page and the count of every combination of filters and sorts of every list in the route definitions. */
export function listRequests(store: FilledStore): ListRequest[] {
  return describedRoutes
    .filter(({ success }) => success.schema?.type === 'array')
    .flatMap(({ operationId, path, query }) => {
      const template = path.replace(/\{\w+\}/, String(store.webhookId));
      // Only lists of webhooks depend on whether the key is an administrator's.
      const keys = path.startsWith('/webhooks') ? [store.apiKey, store.ordinaryKey] : [store.apiKey];
      return combinations(operationId, query?.properties ?? {}).flatMap(pairs => {
        const target = `${template}?${[`limit=${LIMIT}`, 'count=true', ...pairs].join('&')}`;
        return keys.map(apiKey => listRequest(operationId, target, apiKey, apiKey === store.apiKey));
      });
    });
}

function listRequest(
  operationId: string,
  target: string,
  apiKey: string,
  isAdministrator: boolean,
): ListRequest {
  const request = rawRequest('GET', target, { apiKey });
  return { ...request, name: request.name + (isAdministrator ? '' : ' (ordinary key)'), operationId, target };
}

function combinations(operationId: string, properties: Readonly<Record<string, Schema>>): string[][] {
  const choices = Object.entries(properties)
    .filter(([name]) => !PAGING.includes(name))
    .map(([name]) => {
      const values = VALUES[`${operationId} ${name}`];
      if (!values) throw new Error(`Add values for the filter \`${name}\` of ${operationId} to VALUES`);
      return [[], ...values.map(value => [`${name}=${value}`])];
    });
  // The default sort is one of the values.
  const sorts = properties.sort?.enum?.map(sort => [`sort=${sort}`]) ?? [[]];
  return product([...choices, sorts]).map(parts => parts.flat());
}

function product<T>(sets: T[][]): T[][] {
  return sets.reduce<T[][]>((all, set) => all.flatMap(before => set.map(item => [...before, item])), [[]]);
}

/**
 * Returns a request for a deep page of the same list: the cursor in the `Link` header of the first page, with the last ID and
 * the number in a name moved far down the list. `undefined` if there is no second page.
 */
export function deepPage(request: ListRequest, head: string, store: FilledStore): ListRequest | undefined {
  const cursor = /[?&]cursor=([\w-]+)[^>]*>; rel="next"/.exec(head)?.[1];
  if (cursor === undefined) return undefined;
  const target = `${request.target}&cursor=${moved(cursor, request.target.includes('sort=-') ? 0.3 : 0.7)}`;
  const isAdministrator = request.bytes.includes(store.apiKey);
  const apiKey = isAdministrator ? store.apiKey : store.ordinaryKey;
  return listRequest(request.operationId, target, apiKey, isAdministrator);
}

function moved(cursor: string, place: number): string {
  if (/^\d+$/.test(cursor)) return String(Math.floor(PETS * place));
  const [digest, ...key] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [string, ...unknown[]];
  const deep = key.map((part, i) => {
    if (typeof part === 'string') return part.startsWith('a ') ? nameOf(Math.floor(PETS * place)) : part;
    if (i === key.length - 1) return Math.floor(PETS * place);
    return Number(part) > SHIPPED ? SHIPPED + Math.floor(300_000 * place) : part;
  });
  return Buffer.from(JSON.stringify([digest, ...deep])).toString('base64url');
}
