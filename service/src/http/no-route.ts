import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../contract/errors.ts';
import { acceptPatch } from '../contract/media-types.ts';
import { methods } from '../contract/operation.ts';
import type { Gate } from './gate/gate.ts';
import { isPreflight, respondToPreflight } from './preflight.ts';
import { send } from './respond.ts';
import { pathOf, withoutTrailingSlashes } from './targets.ts';

/** The maximum number of characters of a path that a message quotes. Every path of the service is shorter. */
const SHOWN_PATH = 200;

/** The methods that routes can have, as `Allow` lists them. */
const routedMethods = methods.flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method]));

/**
 * Handles requests that match no route: preflight requests of browsers, and OPTIONS. It rejects all others: with 405 if the path
 * exists with another method, otherwise with 404. One hook handles all of them, because a route for each method that a path does
 * not have would take megabytes.
 */
export function rejectUnrouted(server: FastifyInstance, gate: Gate): void {
  const methodsAt = (path: string) =>
    routedMethods.filter(method => server.findRoute({ method, url: path }) !== null);
  const exists = (path: string) =>
    routedMethods.some(method => hasIds(server.findRoute({ method, url: path })));
  const reject = async (request: FastifyRequest) => {
    await gate.pass(request, undefined);
    // OPTIONS comes here only if there is nothing at its path.
    const allowed = request.method === 'OPTIONS' ? [] : methodsAt(pathOf(request.url));
    if (allowed.length === 0) throw nothingAt(request.url, exists);
    throw new ApiError(
      'method_not_allowed',
      `${request.method} is not allowed here; use ${listed(allowed)}`,
      { allow: allowHeader(allowed) },
    );
  };
  const respondToOptions = async (request: FastifyRequest, reply: FastifyReply) => {
    const path = pathOf(request.url);
    // To look up a long path takes up to a millisecond, and this request is not counted.
    const allowed = path === '*' ? routedMethods : path.length > SHOWN_PATH ? [] : methodsAt(path);
    if (allowed.length === 0) return reject(request);
    await gate.passUncounted(request);
    const headers = { allow: allowHeader(allowed), ...(allowed.includes('PATCH') && acceptPatch) };
    send(request, reply, { status: 204, headers });
  };
  server.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) done();
    else if (isPreflight(request)) respondToPreflight(request, reply, gate).catch(done);
    else if (request.method === 'OPTIONS') respondToOptions(request, reply).catch(done);
    else reject(request).catch(done);
  });
  server.setNotFoundHandler(unreachable);
}

/** RFC 9110 §10.2.1 */
function allowHeader(allowed: readonly string[]): string {
  return [...allowed, 'OPTIONS'].join(', ');
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
  const remedy = path.startsWith('//') && suggested !== undefined ? ' Remove a slash after the base URL' : '';
  return new ApiError('route_not_found', `There is nothing at ${path.slice(0, SHOWN_PATH)}${hint}${remedy}`);
}

/** The paths that a client may mean: in lower case, without a version, with a plural name, and below `/store`. */
function correctionsOf(path: string): string[] {
  const base = path.toLowerCase().replace(/^(?:\/api)?(?:\/v\d+)?(?=\/)/, '');
  const plural = base.replace(/^(\/store)?\/([a-z]+)/, '$1/$2s').replace('/categorys', '/categories');
  return [path, path.replace(/^\/+/, '/'), base, plural].flatMap(candidate => [
    candidate,
    `/store${candidate}`,
  ]);
}

/** `PUT`, `GET or HEAD`, `GET, HEAD or POST` */
function listed(methods: readonly string[]): string {
  const last = methods.at(-1)!;
  return methods.length === 1 ? last : `${methods.slice(0, -1).join(', ')} or ${last}`;
}

function unreachable(): never {
  throw new Error('The onRequest hook rejects this request');
}
