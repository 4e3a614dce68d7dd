import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RequestPayload,
} from 'fastify';
import type { Logger } from 'pino';
import { withoutSecrets } from '../access/api-keys/secret.ts';
import { ApiError } from '../contract/errors.ts';
import { BODY_LIMIT, HEADERS_LIMIT } from '../contract/request-limits.ts';
import { DatabaseUnavailable } from '../db/database.ts';
import { MINUTE, SECOND } from '../kit/clock.ts';
import { requestIdFrom } from '../kit/ids.ts';
import { http } from '../kit/node-http.ts';
import type { Route } from '../routes/define-route.ts';
import { endWaitsAtClose } from '../routes/wait-signal.ts';
import { readJsonBodies } from './body.ts';
import { closeConnectionsPromptly } from './closing.ts';
import { type ConnectionLimitOptions, type ConnectionLimits, limitConnections } from './connection-limits.ts';
import { type Drain, responseClass } from './drain.ts';
import { Gate, type GateServices } from './gate/gate.ts';
import { MOST_WAITING, OwedResponses } from './gate/owed-responses.ts';
import { Unreadable } from './gate/unreadable.ts';
import { type HandlerServices, handlerOf } from './handler.ts';
import { lifecycleOf } from './lifecycle.ts';
import { rejectTheRest } from './no-route.ts';
import type { ContractDocument } from './openapi/document.ts';
import type { OutageLog } from './outage-log.ts';
import { type PortalPage, portalPages } from './portal-pages.ts';
import { shown } from './quoting.ts';
import { logRequests, type RequestLog, told } from './request-log.ts';
import { RequestSpans, traceOf } from './request-trace.ts';
import { errorResponse, send } from './respond.ts';
import { originForm, pathOf, routerOptions, routerPath } from './targets.ts';

export interface ServerOptions extends GateServices, HandlerServices {
  routes: readonly Route[];
  contract: ContractDocument;
  log: Logger;
  requestLog: RequestLog;
  outageLog: OutageLog;
  /** Answer operations past their sunset date instead of rejecting them. */
  keepSunset: boolean;
  timeouts?: Partial<Timeouts> | undefined;
  connections: ConnectionLimits;
  drain: Drain;
  onExcessConnection: ConnectionLimitOptions['onExcess'];
}

/** What clients are given time for, in milliseconds. */
export interface Timeouts {
  /** To send a request completely, its headers included. */
  request: number;
  /** The server looks this often for requests that are over their time, so that 408 comes up to so much later. */
  check: number;
  /** To read any part of a response that is ready. */
  reading: number;
}

const defaultTimeouts: Timeouts = { request: 30 * SECOND, check: SECOND, reading: 2 * MINUTE };

/** Longer than load balancers keep idle connections (60 s), so that none is closed under a request on its way. */
const KEEP_ALIVE_TIMEOUT = 72_000;

/** The HTTP server: every route behind the gate, and an answer in the contract's shape for everything else. */
export function buildServer(options: ServerOptions): FastifyInstance {
  const gate = new Gate(options);
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const owed = new OwedResponses();
  const { requestLog, tracing, trustedProxies } = options;
  const spans = tracing && new RequestSpans(tracing, trustedProxies);
  const unreadable = new Unreadable({ gate, requestLog, owed, requestTimeout: timeouts.request });
  const server = Fastify({
    logger: false,
    genReqId: raw => requestIdOf(raw),
    rewriteUrl: ({ url }) => originForm(url!),
    bodyLimit: BODY_LIMIT,
    exposeHeadRoutes: false,
    requestTimeout: timeouts.request,
    connectionTimeout: timeouts.reading,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    // In a closing server a request that is already here is still answered.
    return503OnClosing: false,
    routerOptions,
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } },
    // The gate rejects a missing Host: the answer of node:http has neither body nor rate-limit headers.
    http: {
      maxHeaderSize: HEADERS_LIMIT,
      requireHostHeader: false,
      // Node's own, 60 s, would hold for requests whose headers are missing.
      headersTimeout: timeouts.request,
      connectionsCheckingInterval: timeouts.check,
      // Without it every request is a stream that is read to its end, even one that has no body.
      optimizeEmptyRequests: true,
      ServerResponse: responseClass(options.drain, owed),
    },
    clientErrorHandler: (error, socket) => unreadable.onClientError(error, socket),
    // The router's only error is a path that it cannot decode.
    frameworkErrors: (_error, request, reply) =>
      void rejectBadPath(request, reply, gate, { ...options, spans }),
  });
  const { connections, onExcessConnection: onExcess } = options;
  limitConnections(server.server, { ...connections, trustedProxies, onExcess });
  owed.watch(server.server, socket => unreadable.reject(tooManyWaiting(), socket));
  unreadable.watch(server.server);
  answerWhatNodeAnswersBare(server, unreadable);
  server.decorateRequest('receivedAt', 0);
  server.decorateRequest('caller', undefined);
  server.decorateRequest('operation', undefined);
  server.decorateRequest('span', undefined);
  server.decorateRequest('head', undefined);
  server.decorateRequest('bodyBytes', 0);
  readJsonBodies(server);
  spans?.watch(server);
  logRequests(server, requestLog, options.trustedProxies);
  // First, so that the connections of those who wait end with their answers.
  closeConnectionsPromptly(server, options.drain, owed);
  endWaitsAtClose(server);
  server.addHook('preClose', async () => options.streams.close());
  server.setErrorHandler((error, request, reply) => sendError(error, request, reply, options));
  const pages = portalPages(options.contract);
  rejectTheRest(server, gate);
  for (const route of options.routes) addRoute(server, gate, route, options);
  for (const page of pages) addPage(server, gate, page);
  return server;
}

/**
 * In the place of the framework's compilers of schemas: bodies, parameters and responses are read and written by our own.
 * Unless they are replaced, they are loaded at start, with a second copy of ajv.
 */
function unused(): never {
  throw new Error('A route must not give a schema to the framework');
}

function tooManyWaiting(): ApiError {
  return new ApiError(
    'invalid_request',
    `More than ${MOST_WAITING} requests wait on this connection: read their responses before you send more`,
  );
}

/** Requests that node:http would answer by itself, without a body and without the rate-limit headers. */
function answerWhatNodeAnswersBare(server: FastifyInstance, unreadable: Unreadable): void {
  // A path is 405 and not 404 whichever method of HTTP it lacks.
  for (const method of http.METHODS) {
    if (!server.supportedMethods.includes(method)) server.addHttpMethod(method, { hasBody: true });
  }
  server.server.on('connect', (_request, socket: Socket) => {
    unreadable.reject(new ApiError('invalid_request', 'CONNECT is for proxies, which this is not'), socket);
  });
  // An expectation other than 100-continue may be ignored (RFC 9110 §10.1.1).
  server.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.server.emit('request', request, response);
  });
}

/** Such a request runs no hooks. */
async function rejectBadPath(
  request: FastifyRequest,
  reply: FastifyReply,
  gate: Gate,
  options: Pick<ServerOptions, 'log' | 'requestLog' | 'outageLog' | 'trustedProxies'> & {
    spans: RequestSpans | undefined;
  },
): Promise<void> {
  const { requestLog, trustedProxies, spans } = options;
  // The framework makes it without the decorations of other requests.
  Object.assign(request, { startedAt: performance.now(), errorCode: null, bodyBytes: 0 });
  spans?.begin(request, reply);
  reply.raw.on('close', () => requestLog.write(told(request, reply, trustedProxies)));
  const path = pathOf(request.url);
  try {
    await gate.pass(request, undefined);
    throw new ApiError('invalid_request', `The path must be percent-encoded UTF-8, but was ${shown(path)}`);
  } catch (rejection) {
    sendError(rejection, request, reply, options);
  }
}

/** The caller's request ID, unless it holds an API key: it is logged. */
function requestIdOf({ headers: { 'x-request-id': header } }: Pick<IncomingMessage, 'headers'>): string {
  return requestIdFrom(header === undefined ? undefined : withoutSecrets(String(header)));
}

function addRoute(server: FastifyInstance, gate: Gate, route: Route, options: ServerOptions): void {
  const lifecycle = lifecycleOf(route, options.keepSunset);
  server.route({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    url: routerPath(route.path),
    onRequest: (request, _reply, done) => {
      if (lifecycle) request.head = lifecycle.announcement(request);
      try {
        const waiting = gate.pass(request, route);
        if (waiting) return waiting.then(() => lifecycle?.rejectEnded(request));
        lifecycle?.rejectEnded(request);
      } catch (rejection) {
        // Not at once: if the rest of these bytes is malformed, that is what the response says.
        return Promise.reject(rejection);
      }
      return done();
    },
    ...(route.method !== 'GET' && { preParsing: letEmptyBodiesEnd }),
    handler: handlerOf(route, options),
  });
}

/**
 * A request with a Content-Type but no body: `node:http` has ended its stream already, and a parser that waits for the end
 * would wait for ever.
 */
function letEmptyBodiesEnd(
  _request: FastifyRequest,
  _reply: FastifyReply,
  body: RequestPayload,
  done: (error: null, body: RequestPayload) => void,
): void {
  done(null, body.readableEnded ? Readable.from([]) : body);
}

/** A page passes the gate like an operation that needs no key, and uses no quota. */
function addPage(server: FastifyInstance, gate: Gate, { path, answer }: PortalPage): void {
  const gated = { path, scope: null };
  server.route({
    method: ['GET', 'HEAD'],
    url: routerPath(path),
    onRequest: async request => {
      await gate.pass(request, gated);
    },
    handler: answer,
  });
}

function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { log, outageLog }: Pick<ServerOptions, 'log' | 'outageLog'>,
): void {
  const response = errorResponse(error, request.id, request.params);
  request.errorCode = response.code;
  const traceId = traceOf(request)?.traceId;
  if (error instanceof DatabaseUnavailable) outageLog.writeRequest(request.id, error);
  // An error of the contract is no fault.
  else if (response.status >= 500 && !(error instanceof ApiError))
    log.error({ requestId: request.id, traceId, err: error }, 'request failed');
  // After a body that was not read to its end the framework asks for `Connection: close`. Whether this response can be the last
  // of its connection is for the response itself to decide (drain.ts).
  const { connection } = reply.getHeaders();
  if (connection !== undefined) reply.raw.setHeader('connection', String(connection));
  send(request, reply, response);
}
