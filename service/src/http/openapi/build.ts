import { setImmediate as nextTurn } from 'node:timers/promises';
import { planLimits } from '../../access/plans/plan.ts';
import { type Tag, tagGroups, tags } from '../../contract/tags.ts';
import { API_VERSION } from '../../contract/version.ts';
import { keysOf } from '../../kit/objects.ts';
import { grouped } from '../../kit/quantities.ts';
import { capitalised } from '../../kit/text.ts';
import { GUIDE_URL } from '../../portal/urls.ts';
import type { Route } from '../../routes/define-route.ts';
import { components, errorCodes } from './components.ts';
import { operationOf } from './operation.ts';
import { NamedSchemas } from './schemas.ts';

/** The parts of the document that depend on the service that serves it. */
export interface ServiceDocument {
  servers: readonly object[];
  paths: object;
  [part: string]: unknown;
}

/**
 * Tools that resolve no relative URL, such as Postman, need the first one: it has a variable that they ask for. The service
 * at its default is the one that `npm start` starts.
 */
const servers = [
  {
    url: '{shop}',
    description: 'Your shop.',
    variables: {
      shop: {
        default: 'http://127.0.0.1:8080',
        description: 'The URL of the service, without a slash at its end.',
      },
    },
  },
  { url: '/', description: 'The address that serves this document.' },
];

type AnyRoute = Omit<Route, 'handler'>;

/**
 * Builds the OpenAPI 3.0.3 document of the service from its route table: one operation per turn of the event loop, because all
 * of them take 50 ms.
 */
export async function buildDocument(routes: readonly AnyRoute[]): Promise<ServiceDocument> {
  const schemas = new NamedSchemas();
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const operation = operationOf(route, schemas);
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation };
    await nextTurn();
  }
  const shared = components(schemas);
  await nextTurn();
  return {
    openapi: '3.0.3',
    info: {
      title: 'Pet Store Service',
      version: API_VERSION,
      description: introduction(),
      contact: { name: 'Pet Store Service maintainers', url: GUIDE_URL },
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers,
    tags: tagList(),
    'x-tagGroups': Object.keys(tagGroups).map(group => ({ name: group, tags: tagsOf(group) })),
    paths,
    components: shared,
    'x-error-codes': errorCodes(),
  };
}

function introduction(): string {
  const rows = Object.entries(planLimits).map(
    ([plan, { perMinute, perDay }]) =>
      `| ${capitalised(plan)} | ${grouped(perMinute)} | ${grouped(perDay)} |`,
  );
  return [
    'Manages the animals of a pet store, the categories they belong to, orders for them, and their stock.',
    '',
    'Send an API key with every request, as `X-API-Key` or as a Bearer token. Each key has a plan:',
    '',
    '| Plan | Requests per minute | Requests per day |',
    '|---|---|---|',
    ...rows,
    '| Enterprise | Custom | Custom |',
    '',
    'Minutes and days are those of UTC. The headers `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` of ' +
      'every response describe the window with fewer requests left. Over the limit, requests get 429: wait for the number of seconds ' +
      'in `Retry-After`, and back off exponentially if it happens again.',
    '',
    'Every path with GET also supports HEAD. Other methods get 405 `method_not_allowed`, with the methods of the path in ' +
      '`Allow`, and methods that HTTP does not know get 501 `method_not_implemented`; unknown paths get 404 `route_not_found`. `OPTIONS` ' +
      'gets 204 with `Allow` on every path, requires no key and uses no quota.',
    '',
    'Each write of a test key (`psk_test_…`) is executed, checked and undone: the response is what the write would have returned, with ' +
      '`X-Test: true`.',
    '',
    'Pages in browsers use a publishable key. A preflight request (`OPTIONS` with `Origin` and `Access-Control-Request-Method`) from an ' +
      'origin that an active publishable key lists gets 204 on every path, allows GET and HEAD for two hours, requires no key and ' +
      'uses no quota; from another origin it gets 403 `origin_not_allowed`.',
  ].join('\n');
}

function tagList(): object[] {
  const groups = Object.entries(tagGroups).map(([name, description]) => ({ name, description }));
  const children = Object.entries(tags).map(([name, { parent, description }]) => ({
    name,
    description,
    'x-parent': parent,
  }));
  return [...groups, ...children];
}

function tagsOf(group: string): Tag[] {
  return keysOf(tags).filter(tag => tags[tag].parent === group);
}
