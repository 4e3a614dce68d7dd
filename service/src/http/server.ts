import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Method, Route } from '../contract/define-route.ts';
import { ApiError } from '../contract/errors.ts';
import { requestIdFrom } from '../kit/ids.ts';
import { BODY_LIMIT, readJsonBodies } from './body.ts';
import { Gate, type GateServices } from './gate/gate.ts';
import { answerUnreadable } from './gate/unreadable.ts';
import { type HandlerServices, handlerOf } from './handler.ts';
import { lifecycleOf } from './lifecycle.ts';
import { logRequests } from './request-log.ts';
import { errorResponse, send } from './respond.ts';
import type { RouteServices } from './services.ts';

export interface ServerOptions extends GateServices, HandlerServices {
  routes: readonly Route<RouteServices>[];
  log: Logger;
  /** Answer operations past their sunset date instead of refusing them. */
  keepSunset: boolean;
}

/** The most bytes of request line and headers together; beyond it the connection answers 431. */
const MAX_HEADER_BYTES = 16 * 1024;

/** How long a request may take to arrive, in milliseconds. */
const REQUEST_TIMEOUT = 30_000;

/** Longer than load balancers keep idle connections (60 s), so that none is closed under a request on its way. */
const KEEP_ALIVE_TIMEOUT = 72_000;

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The HTTP server: every route behind the gate, and an answer in the contract's shape for everything else. */
export function buildServer(options: ServerOptions): FastifyInstance {
  const gate = new Gate(options);
  const server = Fastify({
    logger: false,
    genReqId: raw => requestIdFrom(raw.headers['x-request-id']),
    bodyLimit: BODY_LIMIT,
    exposeHeadRoutes: false,
    requestTimeout: REQUEST_TIMEOUT,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    // In a closing server a request that is already here is still answered.
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    clientErrorHandler: (error, socket) => answerUnreadable(error, socket, gate),
    frameworkErrors: (error, request, reply) => {
      void gate.pass(request, reply, undefined).then(
        () => sendError(error, request, reply, options.log),
        refusal => sendError(refusal, request, reply, options.log),
      );
    },
  });
  server.decorateRequest('receivedAt', 0);
  server.decorateRequest('caller', undefined);
  server.decorateRequest('operation', undefined);
  readJsonBodies(server);
  logRequests(server, options.log);
  server.setErrorHandler((error, request, reply) => sendError(error, request, reply, options.log));
  refuseUnknownPaths(server, gate, options.routes);
  for (const [path, routes] of byPath(options.routes)) {
    for (const route of routes) addRoute(server, gate, route, options);
    refuseOtherMethods(server, gate, path, routes);
  }
  return server;
}

function addRoute(
  server: FastifyInstance,
  gate: Gate,
  route: Route<RouteServices>,
  options: ServerOptions,
): void {
  const lifecycle = lifecycleOf(route, options.keepSunset);
  server.route({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    url: fastifyPath(route.path),
    onRequest: async (request, reply) => {
      await gate.pass(request, reply, route);
      lifecycle?.(request, reply);
    },
    handler: handlerOf(route, options),
  });
}

function refuseOtherMethods(
  server: FastifyInstance,
  gate: Gate,
  path: string,
  routes: readonly Route<RouteServices>[],
): void {
  const allowed = METHODS.filter(method => routes.some(route => route.method === method)).flatMap(method =>
    method === 'GET' ? ['GET', 'HEAD'] : [method],
  );
  server.route({
    method: server.supportedMethods.filter(method => !allowed.includes(method)),
    url: fastifyPath(path),
    onRequest: async (request, reply) => {
      await gate.pass(request, reply, undefined);
      throw new ApiError('method_not_allowed', `${request.method} is not among ${allowed.join(', ')} here`, {
        allow: allowed.join(', '),
      });
    },
    handler: unreachable,
  });
}

function refuseUnknownPaths(
  server: FastifyInstance,
  gate: Gate,
  routes: readonly Route<RouteServices>[],
): void {
  const paths = new Set(routes.map(route => route.path));
  server.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    await gate.pass(request, reply, undefined);
    const path = request.url.split('?', 1)[0]!;
    const trimmed = path.replace(/\/+$/, '');
    const hint = trimmed !== path && paths.has(trimmed) ? `; did you mean ${trimmed}?` : '';
    throw new ApiError('route_not_found', `There is nothing at ${path.slice(0, 200)}${hint}`);
  });
  server.setNotFoundHandler(unreachable);
}

function unreachable(): never {
  throw new Error('The onRequest hook refuses this request');
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Logger): FastifyReply {
  const response = errorResponse(error, request.id);
  if (response.status >= 500) log.error({ requestId: request.id, err: error }, 'request failed');
  return send(request, reply, response);
}

/** `/pets/{petId}` as the router writes it: `/pets/:petId`. */
function fastifyPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

function byPath(routes: readonly Route<RouteServices>[]): Map<string, Route<RouteServices>[]> {
  return Map.groupBy(routes, route => route.path);
}
