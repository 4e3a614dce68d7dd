import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../contract/errors.ts';
import { hasSecret } from '../contract/secret-forms.ts';
import { parameters } from '../contract/shape.ts';
import { withCause } from '../db/cause-store.ts';
import type { Queries, Writer } from '../db/database.ts';
import { tracedStore } from '../db/traced-store.ts';
import { undoneStore } from '../db/undone-store.ts';
import { mapPage } from '../kit/paging.ts';
import { formatTraceparent } from '../kit/trace-context.ts';
import { Context } from '../routes/context.ts';
import type { AnyContext, Route } from '../routes/define-route.ts';
import type { Reply } from '../routes/reply.ts';
import type { EventStreams } from './event-streams.ts';
import { countAs, type LateCountServices } from './gate/late-count.ts';
import type { Idempotency } from './idempotency.ts';
import { isLongPage, longPageResponse } from './long-page.ts';
import { rejectBrokenEscapes } from './query-string.ts';
import { traceOf } from './request-trace.ts';
import { type JsonPage, pageResponse, responseOf, send } from './respond.ts';
import { inputReader, rejectOtherId } from './route-input.ts';
import { sendContent } from './send-content.ts';
import { textReader } from './validate.ts';

export interface HandlerServices extends LateCountServices {
  db: Queries & Writer;
  idempotency: Idempotency;
  streams: EventStreams;
}

/** The query or body of a request that has none. */
const nothing = Object.freeze({});

/** The handler of a route behind the gate: checks the input, runs the operation and sends the response. */
export function handlerOf(route: Route, services: HandlerServices) {
  const readContext = contextReader(route, services.db);
  const { cost, prepare, method, scope } = route;
  const isPlain = cost === undefined && prepare === undefined && (method !== 'POST' || scope === null);

  // Not an async function: one that waits costs each request about 0.4 kB.
  return (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    try {
      const context = readContext(request, reply);
      if (isLongPage(route, context)) return sendLongPage(route, context, request, reply, services);
      const replying = isPlain ? route.handler(context) : replyInSteps(route, context, request, services);
      return replying.then(result => sendReply(route, result, request, reply, services));
    } catch (rejection) {
      // In a later turn, as the rejections of the gate.
      return Promise.reject(rejection);
    }
  };
}

/** Runs an operation that may count as several requests, have work before its transaction, or be sent again with its key. */
async function replyInSteps(
  route: Route,
  context: AnyContext,
  request: FastifyRequest,
  services: HandlerServices,
): Promise<Reply> {
  if (route.cost) await countAs(services, request, route.cost(context.body));
  const idempotencyKey = request.headers['idempotency-key'];
  if (route.method === 'POST' && route.scope !== null && idempotencyKey !== undefined)
    return handleOnce(route, context, String(idempotencyKey), request, services);
  if (route.prepare) await route.prepare(context);
  return route.handler(context);
}

async function sendLongPage(
  route: Route,
  context: AnyContext,
  request: FastifyRequest,
  reply: FastifyReply,
  services: HandlerServices,
): Promise<void> {
  const read = async (part: AnyContext) => jsonPage(route, await route.handler(part), request, services);
  send(request, reply, await longPageResponse(context, read, request));
}

/** Sends the response with the reply of an operation. Returns a promise only if it has to wait. */
function sendReply(
  route: Route,
  result: Reply,
  request: FastifyRequest,
  reply: FastifyReply,
  services: HandlerServices,
): Promise<void> | void {
  switch (result.kind) {
    case 'page':
    case 'log':
      return sendPage(route, result, request, reply, services);
    case 'stream':
      return services.streams.start(request, reply, route, result);
    case 'content':
      return sendContent(request, reply, result.content, { 'cache-control': 'private, no-cache' });
    default:
      return send(request, reply, responseOf(route, result, request));
  }
}

async function sendPage(
  route: Route,
  result: Reply,
  request: FastifyRequest,
  reply: FastifyReply,
  services: HandlerServices,
): Promise<void> {
  const page = await jsonPage(route, result, request, services);
  send(request, reply, pageResponse(page, `[${page.items.join()}]`, request));
}

/** Returns a page with its items as JSON. Throws when the reply is no page. */
async function jsonPage(
  route: Route,
  result: Reply,
  request: FastifyRequest,
  { streams }: HandlerServices,
): Promise<JsonPage> {
  if (result.kind === 'page') {
    const { page, single } = result;
    return {
      ...mapPage(page, item => JSON.stringify(item)),
      single: single && JSON.stringify(single),
    };
  }
  if (result.kind !== 'log') throw new Error(`${route.operationId} returned no page`);
  // The key may have ended, or have got other scopes, before the last event of the page: its rights are read after the page.
  for (;;) {
    const { scopes } = await streams.currentCaller(request, route);
    const page = await result.pageFor(scopes);
    if (page) return page;
  }
}

/** Returns a function that checks the input of a request and makes its context. */
function contextReader(
  route: Route,
  store: Queries & Writer,
): (request: FastifyRequest, reply: FastifyReply) => AnyContext {
  const readInput = inputReader(route);
  const readQuery = textReader(route.query ?? parameters({}), 'query parameter');
  return (request, reply) => {
    rejectBrokenEscapes(request.url);
    const hasQuery = route.query !== undefined || request.url.includes('?');
    if (hasQuery) rejectSecretIn(request.url);
    const query = hasQuery ? readQuery(request.query as Record<string, unknown>) : nothing;
    const input = readInput(request.params as Record<string, unknown>, request.body, request.bodyText);
    rejectOtherId(route, input);
    const { params, body } = input;
    // The schemas that the values passed have these types.
    return new Context(request, reply, params, query, body, storeFor(request, route, store)) as AnyContext;
  };
}

/**
 * Rejects a secret in a query: the link to the next page would repeat it, and proxies log URLs. The query is not decoded, because a `+`
 * of base64 would become a space.
 */
function rejectSecretIn(url: string): void {
  const query = url.indexOf('?');
  if (query < 0 || !hasSecret(url.slice(query))) return;
  throw new ApiError(
    'invalid_request',
    'The query contains an API key or another secret, which proxies would log: send a key only in the header X-API-Key, or as ' +
      'Authorization: Bearer <key>',
  );
}

/**
 * Returns the store for a request: its events have the request as their cause, a recorded trace has its statements, and the writes of a
 * test key are undone.
 */
function storeFor(
  request: FastifyRequest,
  { method, writesAlone }: Pick<Route, 'method' | 'writesAlone'>,
  store: Queries & Writer,
): Queries & Writer {
  const { span, caller, id, isTest } = request;
  const traced = span?.isRecorded ? tracedStore(store, span) : store;
  const db = isTest ? undoneStore(traced) : traced;
  // Requests that only read append no events.
  if (method === 'GET') return db;
  const trace = traceOf(request);
  const cause = {
    actor: caller ? `keys/${caller.keyId}` : 'system',
    requestId: id,
    traceparent: trace && formatTraceparent(trace),
  };
  return withCause(db, cause, { alone: writesAlone });
}

/** Runs a POST with an Idempotency-Key, or replays its outcome. */
async function handleOnce(
  route: Route,
  context: AnyContext,
  header: string,
  request: FastifyRequest,
  { idempotency }: HandlerServices,
): Promise<Reply> {
  const attempt = {
    apiKeyId: context.caller.keyId,
    header,
    method: route.method,
    path: request.url,
    body: context.body,
    shownOnce: route.shownOnce ?? [],
    now: context.now,
  };
  const { prepare } = route;
  const effect = (tx: Queries & Writer) => route.handler(context.within(tx));
  const outcome = await idempotency.once(context.db, attempt, effect, prepare && (() => prepare(context)));
  if (outcome.replayed) {
    if (outcome.reply.kind === 'resource') route.rejectReplay?.(context, outcome.reply.body);
    request.head?.push('idempotency-replayed', 'true');
  }
  return outcome.reply;
}
