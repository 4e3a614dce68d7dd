import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import router from 'find-my-way';
import { ApiError } from '../contract/errors.ts';
import { methods, type Operation } from '../contract/operation.ts';
import type { Gate } from './gate/gate.ts';
import { pathOf, routerOptions, routerPath, withoutTrailingSlashes } from './targets.ts';

/** How much of a path a message repeats, in characters. */
const SHOWN_PATH = 200;

/**
 * Rejects a request for which no route exists: 405 for another method of a path that exists, else 404. One hook does
 * this for all of them, because a route for each method that a path lacks would take megabytes.
 */
export function rejectTheRest(
  server: FastifyInstance,
  gate: Gate,
  routes: readonly Pick<Operation, 'method' | 'path'>[],
): void {
  const methodsAt = methodsByPath(routes);
  const rejectionOf = ({ method, url }: FastifyRequest): ApiError => {
    const allow = methodsAt(pathOf(url));
    if (allow !== undefined) {
      return new ApiError('method_not_allowed', `${method} is not among ${allow} here`, { allow });
    }
    return nothingAt(url, path => methodsAt(path) !== undefined);
  };
  const reject = async (request: FastifyRequest, reply: FastifyReply) => {
    await gate.pass(request, reply, undefined);
    throw rejectionOf(request);
  };
  server.addHook('onRequest', (request, reply, done) => {
    if (request.is404) reject(request, reply).catch(done);
    else done();
  });
  server.setNotFoundHandler(unreachable);
}

/** The 404 for a request target. It suggests the path without the slashes at its end if something `exists` there. */
export function nothingAt(url: string, exists: (path: string) => boolean = () => false): ApiError {
  const path = pathOf(url);
  const trimmed = withoutTrailingSlashes(path);
  const isSlip = trimmed !== path && trimmed.length <= SHOWN_PATH && exists(trimmed);
  const hint = isSlip ? `; did you mean ${trimmed}?` : '';
  return new ApiError('route_not_found', `There is nothing at ${path.slice(0, SHOWN_PATH)}${hint}`);
}

/**
 * A function that returns the methods of a path, as `Allow` lists them, or `undefined` if the path does not exist. It
 * asks a router of the server's own kind, which decodes and compares a path once, in time linear in its length: the
 * server's router knows paths only by method.
 */
function methodsByPath(
  routes: readonly Pick<Operation, 'method' | 'path'>[],
): (path: string) => string | undefined {
  const paths = router(routerOptions);
  for (const [template, known] of Map.groupBy(routes, route => route.path)) {
    const allowed = methods
      .filter(method => known.some(route => route.method === method))
      .flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
      .join(', ');
    paths.on('GET', routerPath(template), unreachable, allowed);
  }
  return path => paths.find('GET', path)?.store;
}

function unreachable(): never {
  throw new Error('The onRequest hook rejects this request');
}
