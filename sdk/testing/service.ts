import type { Plan } from '../../service/src/access/plans/plan.ts';
import { errorCatalogue } from '../../service/src/contract/error-catalogue.ts';
import { ApiError } from '../../service/src/contract/errors.ts';
import { BATCH_BODY_LIMIT, BODY_LIMIT } from '../../service/src/contract/request-limits.ts';
import type { WindowLimits } from '../../service/src/counters/windows.ts';
import { shouldRetry } from '../../service/src/http/should-retry.ts';
import { canonicalJson } from '../../service/src/kit/canonical-json.ts';
import { formatDateTime } from '../../service/src/kit/dates.ts';
import { inBinaryUnitAndBytes } from '../../service/src/kit/quantities.ts';
import { etagOf, guardOf, isNotModified } from '../../service/src/routes/conditional.ts';
import { batchRules, runBatch } from './batch.ts';
import { EventLog, KEY_ID } from './events.ts';
import { handlers, type Result } from './handlers.ts';
import { Limits, rejectWithoutScopes } from './limits.ts';
import { match } from './match.ts';
import {
  hasFields,
  invalid,
  isInt64,
  readObject,
  readTexts,
  type TestedOperation,
  type Values,
} from './rules.ts';
import { Shop } from './shop.ts';

/** The name of the key. */
const NAME = 'Test client';
/** How many responses to repeated requests are kept, and for how long, in milliseconds. */
const MOST_OUTCOMES = 1_000;
const RETENTION = 24 * 60 * 60 * 1000;

/** A request that was read, and what is known about its response. */
interface Exchange {
  method: string;
  url: URL;
  /** By names in lower case. */
  headers: Record<string, string>;
  text: string;
  signal: AbortSignal;
  response: Headers;
  /** Whether the number of its operations, as which it counts, is not known yet. */
  isUncounted: boolean;
}

/** The only API key. */
interface TestKey {
  secret: string;
  plan: Plan;
  quotas: WindowLimits;
  scopes: readonly string[];
}

/** Returns the `fetch` of a service with one API key and an empty shop. */
export function serve({
  secret,
  plan,
  quotas,
  scopes,
}: TestKey): (...request: Parameters<typeof fetch>) => Promise<Response> {
  const log = new EventLog();
  const limits = new Limits(plan, quotas, ({ day: _, end, ...quota }) => {
    const data = { keyId: KEY_ID, name: NAME, ...quota, resetAt: formatDateTime(end) };
    log.append('key.quota_reached', `keys/${KEY_ID}`, data, { actor: 'system' });
  });
  const outcomes = new Map<string, { at: number; request: string; result: Result }>();
  let requestId = '';
  const shop = new Shop((type, subject, data, details) =>
    log.append(type, subject, data, { actor: `keys/${KEY_ID}`, requestid: requestId, ...details }),
  );

  async function respond(exchange: Exchange): Promise<Response> {
    const { method, url, headers, response } = exchange;
    const { name, operation, texts, allowed } = match(method === 'HEAD' ? 'GET' : method, url.pathname);
    if (operation) announce(operation, texts, response);
    const isKnown = presentedKey(headers) === secret;
    const isCountedLater = isKnown && name === 'POST /batch';
    const countedBy = !isKnown ? 'address' : name === 'GET /account' ? 'account' : 'key';
    rejectWith(limits.count(countedBy, response, isCountedLater ? 0 : 1));
    exchange.isUncounted = isCountedLater;
    if (!isKnown && presentedKey(headers) !== undefined)
      throw new ApiError('invalid_api_key', 'The API key is not that of the test service', {
        'www-authenticate': 'Bearer realm="petstore", error="invalid_token"',
      });
    if (operation) {
      if (!isKnown)
        throw new ApiError('missing_api_key', 'Send an API key in the header X-API-Key', {
          'www-authenticate': 'Bearer realm="petstore"',
        });
      rejectWithoutScopes(scopes, operation.scopes, operation.anyOfScopes);
    }
    const version = headers['api-version'];
    if (version !== undefined && !['1', '1.0', '1.0.0'].includes(version))
      throw new ApiError('unsupported_api_version', `API-Version ${version} does not exist; send 1`);
    if (!operation || name === undefined) throw nothingAt(method, url.pathname, allowed);
    const query = readTexts(operation.query, url.searchParams);
    const params = readTexts(operation.path, texts);
    if (!operation.body && exchange.text !== '' && hasFields(bodyOf(exchange, name)))
      throw invalid('The operation has no body: leave it out');
    const body = operation.body
      ? readObject(name === 'POST /batch' ? batchRules : operation.body, bodyOf(exchange, name))
      : {};
    const [id] = Object.values(params);
    if (method !== 'POST' && 'id' in body && body.id !== id)
      throw invalid(`Field \`id\` must equal the ID in the path, ${id}`);
    if (isCountedLater) {
      limits.rejectTooMany(body.operations.length);
      exchange.isUncounted = false;
      rejectWith(limits.count('key', response, body.operations.length));
    }
    if (name === 'GET /events/stream') {
      const stream = log.stream(query, headers['last-event-id'] || undefined, scopes, exchange.signal);
      response.set('content-type', 'text/event-stream');
      response.set('cache-control', 'no-store');
      if (method !== 'HEAD') return new Response(stream, { headers: response });
      await stream.cancel();
      return new Response(null, { headers: response });
    }
    if (name === 'GET /events') {
      const { items, next, total } = await log.read(query, scopes, exchange.signal);
      return responseOf(exchange, { status: 200, body: items, next, ...(query.count && { total }) });
    }
    if (name === 'GET /account') {
      const account = {
        keyId: KEY_ID,
        name: NAME,
        kind: 'secret',
        plan,
        scopes,
        expiresAt: null,
        ...limits.use(),
        planRequest: null,
      };
      return responseOf(exchange, { status: 200, body: account, tagged: account });
    }
    requestId = response.get('x-request-id')!;
    const run = () =>
      name === 'POST /batch'
        ? runBatch(shop, body, scopes)
        : shop.transaction(() =>
            handlers[name]!(shop, {
              id,
              query,
              body,
              // Reads and creations do not read `If-Match` here, so that it may be malformed.
              get guard() {
                return guardOf(headers);
              },
            }),
          );
    return responseOf(exchange, method === 'POST' ? once(exchange, body, run) : run());
  }

  /** Repeats the outcome of an earlier request with the same `Idempotency-Key`. */
  function once({ method, url, headers, response }: Exchange, body: Values, run: () => Result): Result {
    const header = headers['idempotency-key'];
    if (header === undefined) return run();
    if (!/^([!#-~]([ -~]{0,253}[!-~])?|"[ -~]{1,255}")$/.test(header))
      throw invalid('Idempotency-Key must have 1 to 255 characters');
    const key = header.replace(/^"(.*)"$/, '$1');
    const request = `${method} ${url.pathname}${url.search} ${canonicalJson(body)}`;
    const earlier = outcomes.get(key);
    if (earlier && earlier.at >= Date.now() - RETENTION) {
      if (earlier.request !== request)
        throw new ApiError('idempotency_key_reused', 'This Idempotency-Key was used with another request');
      response.set('idempotency-replayed', 'true');
      return earlier.result;
    }
    const result = run();
    outcomes.delete(key);
    outcomes.set(key, { at: Date.now(), request, result });
    if (outcomes.size > MOST_OUTCOMES) outcomes.delete(outcomes.keys().next().value!);
    return result;
  }

  return async (...sent) => {
    const request = new Request(...sent);
    const { method, signal } = request;
    const headers = Object.fromEntries(request.headers);
    const id = /^[A-Za-z0-9._~:/+=-]{1,128}$/.exec(headers['x-request-id'] ?? '')?.[0] ?? crypto.randomUUID();
    const response = new Headers({ 'x-request-id': id, 'api-version': '1.0.0' });
    const exchange = {
      method,
      url: new URL(request.url),
      headers,
      text: await request.text(),
      signal,
      response,
      isUncounted: false,
    };
    signal.throwIfAborted();
    try {
      return await respond(exchange);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // A batch that failed before its operations were counted is one request.
      const rejection = exchange.isUncounted ? limits.count('key', response, 1) : undefined;
      return errorResponse(exchange, rejection ?? error);
    }
  };
}

function rejectWith(error: ApiError | undefined): void {
  if (error) throw error;
}

function presentedKey({ 'x-api-key': key, authorization = '' }: Record<string, string>): string | undefined {
  return key ?? /^bearer +(\S+) *$/i.exec(authorization)?.[1];
}

/** Adds the headers about the stability of an operation. */
function announce(
  { stability, deprecation }: TestedOperation,
  texts: readonly (readonly [string, string])[],
  response: Headers,
): void {
  if (stability !== undefined) response.set('x-stability', stability);
  if (!deprecation) return;
  const { operationId, since, sunset, successor } = deprecation;
  response.set('deprecation', `@${Date.parse(since) / 1000}`);
  response.set('sunset', new Date(sunset).toUTCString());
  const notice = `</docs/operations/${operationId}>; rel="deprecation"; type="text/html"`;
  const [[name, text] = ['', '']] = texts;
  const link =
    successor.startsWith('/') && isInt64(text)
      ? `<${successor.replace(`{${name}}`, text)}>; rel="successor-version", ${notice}`
      : notice;
  response.set('link', link);
  if (Date.now() >= Date.parse(sunset))
    throw new ApiError('operation_sunset', `This operation was withdrawn on ${sunset}`);
}

function nothingAt(method: string, path: string, allowed: readonly string[]): ApiError {
  if (allowed.length === 0)
    return new ApiError('route_not_found', `The test service has no ${path}: test this part with a service`);
  const allow = allowed.flatMap(name => (name === 'GET' ? ['GET', 'HEAD'] : [name]));
  return new ApiError('method_not_allowed', `${method} is not allowed here; use ${allow.join(', ')}`, {
    allow: [...allow, 'OPTIONS'].join(', '),
  });
}

/** Reads the body as JSON. */
function bodyOf({ method, headers, text }: Exchange, name: string): unknown {
  if (text === '') throw invalid('The request needs a JSON object as its body');
  const limit = name === 'POST /batch' ? BATCH_BODY_LIMIT : BODY_LIMIT;
  if (new TextEncoder().encode(text).length > limit)
    throw new ApiError(
      'payload_too_large',
      `The body is over ${inBinaryUnitAndBytes(limit)}: send less, or several requests`,
    );
  const type = headers['content-type']?.split(';')[0]?.toLowerCase();
  if (type !== 'application/json' && !(method === 'PATCH' && type === 'application/merge-patch+json'))
    throw new ApiError(
      'unsupported_media_type',
      `Send the body as application/json; it was ${type ?? 'sent without a type'}`,
      method === 'PATCH' ? { 'accept-patch': 'application/merge-patch+json, application/json' } : {},
    );
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('The body is not valid JSON');
  }
}

/** Makes the response with a result. A read is a 304 if the client has the state already. */
function responseOf({ method, url, headers, response }: Exchange, result: Result): Response {
  const { status, body, location, tagged, next, total } = result;
  const isRead = method === 'GET' || method === 'HEAD';
  const etag = tagged && etagOf(JSON.stringify(tagged));
  const isNews = !isRead || !isNotModified(headers, etag);
  if (location !== undefined) response.set('location', location);
  if (total !== undefined) response.set('x-total-count', String(total));
  if (next !== undefined) {
    const query = new URLSearchParams(url.search);
    query.set('cursor', next);
    response.set('link', `<${url.pathname}?${query}>; rel="next"`);
  }
  response.set('cache-control', isRead ? 'private, no-cache' : 'no-store');
  if (etag !== undefined) response.set('etag', etag);
  if (!isNews) return new Response(null, { status: 304, headers: response });
  if (body === undefined) return new Response(null, { status, headers: response });
  response.set('content-type', 'application/json; charset=utf-8');
  return new Response(method === 'HEAD' ? null : JSON.stringify(body), { status, headers: response });
}

function errorResponse({ method, response }: Exchange, { code, message, headers }: ApiError): Response {
  const { status } = errorCatalogue[code];
  const retry = shouldRetry(code, headers);
  for (const [name, value] of Object.entries({ ...headers, ...(retry && { 'x-should-retry': retry }) }))
    response.set(name, value);
  response.set('cache-control', 'no-store');
  response.set('content-type', 'application/json; charset=utf-8');
  return new Response(method === 'HEAD' ? null : JSON.stringify({ code, message, status }), {
    status,
    headers: response,
  });
}
