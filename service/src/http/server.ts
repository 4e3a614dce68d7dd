import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { ApiError } from '../contract/errors.ts';
import { BODY_LIMIT, HEADERS_LIMIT } from '../contract/request-limits.ts';
import { withoutSecrets } from '../contract/secret-forms.ts';
import type { TrustedProxies } from '../kit/client-address.ts';
import { MINUTE, SECOND } from '../kit/clock.ts';
import { requestIdFrom } from '../kit/ids.ts';
import { http } from '../kit/node-http.ts';
import type { Problems } from '../problems.ts';
import type { Route } from '../routes/define-route.ts';
import { endWaitsAtClose } from '../routes/wait-signal.ts';
import { addPath, type ServedPath } from './add-path.ts';
import { readJsonBodies } from './body.ts';
import { closeConnectionsPromptly } from './closing.ts';
import {
  ConnectionLimiter,
  type ConnectionLimitOptions,
  type ConnectionLimits,
} from './connection-limits.ts';
import { consolePages, type RedeemTicket } from './console-pages.ts';
import { type Drain, responseClass } from './drain.ts';
import { Gate, type GateServices } from './gate/gate.ts';
import { countFailed } from './gate/late-count.ts';
import { RequestLimits } from './gate/request-limits.ts';
import { type HandlerServices, handlerOf } from './handler.ts';
import { lifecycleOf } from './lifecycle.ts';
import { rejectUnrouted } from './no-route.ts';
import type { ContractDocument } from './openapi/document.ts';
import { sendOverdue } from './overdue.ts';
import { isMethodOfHttp, MAX_WAITING, type OwedResponses } from './owed-responses.ts';
import { packageFiles } from './package-files.ts';
import { portalPages } from './portal-pages.ts';
import { isPreflight, respondToPreflight } from './preflight.ts';
import { shown } from './quoting.ts';
import { type RequestLog, recordOf } from './request-log.ts';
import { RequestSpans } from './request-trace.ts';
import { ResponseDeadline } from './response-deadline.ts';
import { type ErrorLogs, sendError } from './send-error.ts';
import { originForm, pathOf, routerOptions } from './targets.ts';
import { Unreadable } from './unreadable.ts';

interface ServerOptions extends GateServices, HandlerServices, ErrorLogs {
  routes: readonly Route[];
  contract: ContractDocument;
  problems: Problems;
  requestLog: RequestLog;
  /** Serve operations past their sunset date instead of rejecting them. */
  keepSunset: boolean;
  timeouts?: Partial<Timeouts> | undefined;
  trustedProxies: TrustedProxies;
  connections: ConnectionLimits;
  drain: Drain;
  owed: OwedResponses;
  redeemTicket: RedeemTicket;
  /** Whether the service runs with the demo shop, which readers of the portal may change. */
  isDemo: boolean;
  onExcessConnection: ConnectionLimitOptions['onExcess'];
  /** Called for each request that got 503 because its response took too long. */
  onOverdue?: (() => void) | undefined;
}

/** How long a client or the service may take for each step, in milliseconds. */
export interface Timeouts {
  /** The client: to send a request completely, its headers included. */
  request: number;
  /** The service: to begin the response to a complete request. */
  response: number;
  /** The interval at which the server checks for requests that took too long: 408 and 503 are late by up to this time. */
  check: number;
  /** The client: to read any part of a response that is ready. */
  reading: number;
}

export const defaultTimeouts: Timeouts = {
  request: 30 * SECOND,
  response: 30 * SECOND,
  check: SECOND,
  reading: 2 * MINUTE,
};

/** Longer than load balancers keep idle connections open (60 s), so that none is closed while a request is in transit. */
const KEEP_ALIVE_TIMEOUT = 72_000;

/** Builds the HTTP server: every route behind the gate, and an error of the contract for every other request. */
export function buildServer(options: ServerOptions): FastifyInstance {
  const { connections, onExcessConnection: onExcess } = options;
  const limiter = new ConnectionLimiter({ ...connections, trustedProxies: options.trustedProxies, onExcess });
  const limits = new RequestLimits(options);
  const gate = new Gate(options, limits, socket => limiter.rejectionOn(socket));
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const { owed, requestLog, tracing, trustedProxies } = options;
  const spans = tracing && new RequestSpans(tracing);
  const begin: Begin = (request, reply) => {
    const { raw, headers } = request;
    request.startedAt = performance.now();
    request.address = trustedProxies.clientAddress(
      raw.socket.remoteAddress ?? '',
      headers['x-forwarded-for'],
    );
    reply.raw.reply = reply;
    spans?.begin(request, reply);
  };
  const deadline = new ResponseDeadline({
    owed,
    limit: timeouts.response,
    check: timeouts.check,
    onOverdue: reply => void sendOverdue(reply, limits, timeouts.response, options),
  });
  const unreadable = new Unreadable({ limits, requestLog, owed, requestTimeout: timeouts.request });
  const server = Fastify({
    logger: false,
    genReqId: raw => requestIdOf(raw),
    rewriteUrl: ({ url }) => originForm(url!),
    bodyLimit: BODY_LIMIT,
    exposeHeadRoutes: false,
    requestTimeout: timeouts.request,
    connectionTimeout: timeouts.reading,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    // A closing server still serves requests that it has received.
    return503OnClosing: false,
    routerOptions,
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } },
    // The gate rejects a missing Host: the response of node:http has neither body nor rate-limit headers.
    http: {
      maxHeaderSize: HEADERS_LIMIT,
      requireHostHeader: false,
      // Node.js swaps the two limits if this one is longer: its default, 60 s, would then be the limit of a body.
      headersTimeout: timeouts.request,
      connectionsCheckingInterval: timeouts.check,
      // Without it, every request is a stream that is read to its end, even without a body.
      optimizeEmptyRequests: true,
      ServerResponse: responseClass(options.drain, owed, limiter),
    },
    clientErrorHandler: (error, socket) => unreadable.onClientError(error, socket),
    // The router's only error is a path that it cannot decode.
    frameworkErrors: (_error, request, reply) =>
      void rejectBadPath(request, reply, gate, { ...options, begin }),
  });
  limiter.watch(server.server);
  owed.watch(
    server.server,
    request =>
      unreadable.reject(isMethodOfHttp(request) ? tooManyWaiting() : otherProtocol(request), request.socket),
    // The framework's hook for sent responses would cost four listeners, and misses requests that the client aborts.
    ({ reply }) => reply && requestLog.write(recordOf(reply.request, reply)),
  );
  unreadable.watch(server.server);
  deadline.watch(server.server);
  overrideNodeResponses(server, unreadable);
  server.decorateRequest('receivedAt', 0);
  server.decorateRequest('caller', undefined);
  server.decorateRequest('address', '');
  server.decorateRequest('operation', undefined);
  server.decorateRequest('span', undefined);
  server.decorateRequest('head', undefined);
  server.decorateRequest('isReadable', false);
  server.decorateRequest('isTest', false);
  server.decorateRequest('isUncounted', false);
  server.decorateRequest('passing', undefined);
  server.decorateRequest('bodyBytes', 0);
  server.decorateRequest('startedAt', 0);
  server.decorateRequest('errorCode', null);
  server.decorateRequest('stream', undefined);
  server.decorateRequest('isOverdue', false);
  readJsonBodies(server);
  server.addHook('onRequest', (request, reply, done) => {
    begin(request, reply);
    done();
  });
  // Before `endWaitsAtClose`, so that the connections of long polls end with their responses.
  closeConnectionsPromptly(server, options.drain, owed);
  endWaitsAtClose(server);
  server.addHook('preClose', async () => options.streams.close());
  server.setErrorHandler((error, request, reply) => {
    if (!request.isUncounted) return sendError(error, request, reply, options);
    return countFailed(options, request, error).then(counted => sendError(counted, request, reply, options));
  });
  rejectUnrouted(server, gate);
  const paths = [
    ...options.routes.map(route => servedPathOf(route, options)),
    ...portalPages(options),
    ...consolePages(options.redeemTicket),
    ...packageFiles(),
  ];
  for (const path of paths) addPath(server, gate, path);
  return server;
}

/**
 * Replaces the framework's schema compilers, because the service has its own readers of bodies and parameters. Otherwise the
 * framework loads them at start, with a second copy of ajv.
 */
function unused(): never {
  throw new Error('A route must not pass a schema to the framework');
}

function tooManyWaiting(): ApiError {
  return new ApiError(
    'invalid_request',
    `More than ${MAX_WAITING} requests are waiting on this connection: read their responses before you send more`,
  );
}

function otherProtocol({ method }: IncomingMessage): ApiError {
  return new ApiError(
    'invalid_request',
    `The request is not well-formed HTTP/1.1: ${method} is a method of another protocol`,
  );
}

/** Handles the requests to which node:http would respond without a body and without the rate-limit headers. */
function overrideNodeResponses(server: FastifyInstance, unreadable: Unreadable): void {
  // Register all methods of HTTP, so that a path without the method is 405 and not 404.
  for (const method of http.METHODS) {
    if (!server.supportedMethods.includes(method)) server.addHttpMethod(method, { hasBody: true });
  }
  server.server.on('connect', (_request, socket: Socket) => {
    unreadable.reject(
      new ApiError('invalid_request', 'CONNECT is not supported: this service is not a proxy'),
      socket,
    );
  });
  // An expectation other than 100-continue may be ignored (RFC 9110 §10.1.1).
  server.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.server.emit('request', request, response);
  });
}

/** Begins to watch a request for the log, its deadline and its trace. */
type Begin = (request: FastifyRequest, reply: FastifyReply) => void;

/** Rejects a path that the router cannot decode. Such a request runs no hooks. */
async function rejectBadPath(
  request: FastifyRequest,
  reply: FastifyReply,
  gate: Gate,
  options: ErrorLogs & { begin: Begin },
): Promise<void> {
  // The framework creates it without the decorations of other requests.
  Object.assign(request, { errorCode: null, bodyBytes: 0 });
  options.begin(request, reply);
  const path = pathOf(request.url);
  try {
    if (isPreflight(request)) return await respondToPreflight(request, reply, gate);
    await gate.pass(request, undefined);
    throw new ApiError('invalid_request', `The path must be percent-encoded UTF-8, but was ${shown(path)}`);
  } catch (rejection) {
    sendError(rejection, request, reply, options);
  }
}

/** The client's request ID without secrets, because it is logged; or a new one. */
function requestIdOf({ headers: { 'x-request-id': header } }: Pick<IncomingMessage, 'headers'>): string {
  return requestIdFrom(header === undefined ? undefined : withoutSecrets(String(header)));
}

function servedPathOf(route: Route, options: ServerOptions): ServedPath {
  const { method, bodyLimit } = route;
  const gated = { ...route, lifecycle: lifecycleOf(route, options.keepSunset) };
  return { method, gated, bodyLimit, handler: handlerOf(route, options) };
}
