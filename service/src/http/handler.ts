import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../contract/errors.ts';
import { withCause } from '../db/cause-store.ts';
import type { Queries, Writer } from '../db/database.ts';
import { tracedStore } from '../db/traced-store.ts';
import { formatTraceparent } from '../kit/trace-context.ts';
import { Context } from '../routes/context.ts';
import type { AnyContext, Route } from '../routes/define-route.ts';
import type { Reply } from '../routes/reply.ts';
import type { EventStreams } from './event-streams.ts';
import type { Remedies } from './faults.ts';
import { countAs, type LateCountServices } from './gate/late-count.ts';
import type { Idempotency } from './idempotency.ts';
import { rejectBrokenEscapes } from './query-string.ts';
import { traceOf } from './request-trace.ts';
import { responseOf, send } from './respond.ts';
import { sendContent } from './send-content.ts';
import { bodyReader, textReader } from './validate.ts';

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

  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const context = readContext(request, reply);
    if (route.cost) await countAs(services, request, route.cost(context.body));
    if (route.prepare) await route.prepare(context);
    const idempotencyKey = request.headers['idempotency-key'];
    const result =
      route.method === 'POST' && idempotencyKey !== undefined
        ? await handleOnce(route, context, String(idempotencyKey), request, services)
        : await route.handler(context);
    // The key may have ended during a long poll.
    if (result.kind === 'log') await services.streams.rejectEnded(request);
    if (result.kind === 'stream') {
      services.streams.start(request, reply, result.start);
      return;
    }
    if (result.kind === 'content')
      return sendContent(request, reply, result.content, { 'cache-control': 'private, no-cache' });
    send(request, reply, responseOf(route, result, request));
  };
}

/** Returns a function that checks the input of a request and makes its context. */
function contextReader(
  route: Route,
  store: Queries & Writer,
): (request: FastifyRequest, reply: FastifyReply) => AnyContext {
  const readParams = textReader(route.params ?? { type: 'object' }, 'path parameter');
  const readQuery = textReader(
    route.query ?? { type: 'object', additionalProperties: false },
    'query parameter',
  );
  const readBody = route.body && bodyReader(route.body, route.bodyOptional, remediesOf(route));
  return (request, reply) => {
    rejectBrokenEscapes(request.url);
    const hasQuery = route.query !== undefined || request.url.includes('?');
    const params = readParams(request.params as Record<string, unknown>);
    const query = hasQuery ? readQuery(request.query as Record<string, unknown>) : nothing;
    const body = readBody ? readBody(request.body, request.bodyText) : nothing;
    if (route.method !== 'POST') rejectOtherId(params, body);
    // The schemas that the values passed have these types.
    return new Context(request, reply, params, query, body, storeFor(request, route, store)) as AnyContext;
  };
}

/** Remedies for the fields of the resource that the body of the route does not have. */
function remediesOf({ success, setElsewhere }: Route): Remedies {
  const fields = Object.keys(success.schema?.properties ?? {});
  return { ...Object.fromEntries(fields.map(name => [name, 'leave it out'])), ...setElsewhere };
}

/** Returns the store for a request: its events have the request as their cause, and a recorded trace has its statements. */
function storeFor(
  request: FastifyRequest,
  { method }: Pick<Route, 'method'>,
  store: Queries & Writer,
): Queries & Writer {
  const { span, caller, id } = request;
  const db = span?.isRecorded ? tracedStore(store, span) : store;
  // Requests that only read append no events.
  if (method === 'GET') return db;
  const trace = traceOf(request);
  return withCause(db, {
    actor: caller ? `keys/${caller.keyId}` : 'system',
    requestId: id,
    traceparent: trace && formatTraceparent(trace),
  });
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
  const effect = (tx: Queries & Writer) => route.handler(context.within(tx));
  const outcome = await idempotency.once(context.db, attempt, effect);
  if (outcome.replayed) request.head?.push('idempotency-replayed', 'true');
  return outcome.reply;
}

/** An `id` in the body of a PUT or PATCH is optional and read-only: it must equal the ID in the path. */
function rejectOtherId(params: object, body: object): void {
  if (!('id' in body)) return;
  const [pathId] = Object.values(params);
  if (body.id !== pathId) {
    throw new ApiError(
      'invalid_request',
      `Field \`id\` must equal the ID in the path, ${pathId}, but was ${body.id}`,
    );
  }
}
