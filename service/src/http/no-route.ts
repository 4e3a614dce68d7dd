import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../contract/errors.ts';
import { methods } from '../contract/operation.ts';
import type { Gate } from './gate/gate.ts';
import { isPreflight, respondToPreflight } from './preflight.ts';
import { pathOf, withoutTrailingSlashes } from './targets.ts';

/** The maximum number of characters of a path that a message quotes. */
const SHOWN_PATH = 200;

/** The methods that routes can have, as `Allow` lists them. */
const routedMethods = methods.flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method]));

/**
 * Handles requests that match no route. It responds to preflight requests of browsers, and rejects all others: with 405 if the
 * path exists with another method, otherwise with 404. One hook handles all of them, because a route for each method that a
 * path does not have would take megabytes.
 */
export function rejectUnrouted(server: FastifyInstance, gate: Gate): void {
  const methodsAt = (path: string) =>
    routedMethods.filter(method => server.findRoute({ method, url: path }) !== null);
  const exists = (path: string) =>
    routedMethods.some(method => hasIds(server.findRoute({ method, url: path })));
  const rejectionOf = ({ method, url }: FastifyRequest): ApiError => {
    const allowed = methodsAt(pathOf(url));
    if (allowed.length === 0) return nothingAt(url, exists);
    return new ApiError('method_not_allowed', `${method} is not allowed here; use ${listed(allowed)}`, {
      allow: allowed.join(', '),
    });
  };
  const reject = async (request: FastifyRequest) => {
    await gate.pass(request, undefined);
    throw rejectionOf(request);
  };
  server.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) done();
    else if (isPreflight(request)) respondToPreflight(request, reply, gate).catch(done);
    else reject(request).catch(done);
  });
  server.setNotFoundHandler(unreachable);
}

/** Whether a route was found whose parameters are numbers: `/pets/findByStatus` is a path, but not of a pet. */
export function hasIds(route: { params: Record<string, unknown> } | null): boolean {
  return route !== null && Object.values(route.params).every(value => /^\d+$/.test(String(value)));
}

/** The 404 for a request target. It suggests a path for a common mistake if a route `exists` there. */
export function nothingAt(url: string, exists: (path: string) => boolean = () => false): ApiError {
  const path = pathOf(url);
  const trimmed = withoutTrailingSlashes(path);
  const suggested = trimmed.length <= SHOWN_PATH ? correctionsOf(trimmed).find(exists) : undefined;
  const hint = suggested === undefined ? ': /docs describes every path' : `; did you mean ${suggested}?`;
  return new ApiError('route_not_found', `There is nothing at ${path.slice(0, SHOWN_PATH)}${hint}`);
}

/** The paths that a client may mean: in lower case, without a version, with a plural name, and below `/store`. */
function correctionsOf(path: string): string[] {
  const base = path.toLowerCase().replace(/^(?:\/api)?(?:\/v\d+)?(?=\/)/, '');
  const plural = base.replace(/^(\/store)?\/([a-z]+)/, '$1/$2s').replace('/categorys', '/categories');
  return [path, base, plural].flatMap(candidate => [candidate, `/store${candidate}`]);
}

/** `PUT`, `GET or HEAD`, `GET, HEAD or POST` */
function listed(methods: readonly string[]): string {
  const last = methods.at(-1)!;
  return methods.length === 1 ? last : `${methods.slice(0, -1).join(', ')} or ${last}`;
}

function unreachable(): never {
  throw new Error('The onRequest hook rejects this request');
}
