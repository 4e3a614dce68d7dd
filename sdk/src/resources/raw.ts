import { withIdempotencyKey } from '../call.ts';
import type { Client } from '../client.ts';
import { defined } from '../defined.ts';
import { PetStoreError } from '../errors.ts';
import { exchange } from '../exchange.ts';
import { type Lane, pacerOf } from '../lanes.ts';
import { nextCursorOf } from '../list.ts';
import { type OperationName, type PostOptions, type Request, requestOf } from '../request.ts';
import { type Message, messagesIn } from '../subscribe.ts';

/** A request that names its path instead of an operation. */
export interface RawRequest {
  method: string;
  /** The path below the base URL, with its query: `/pets?limit=3`. */
  path: string;
  /** Is sent as JSON. */
  body?: object | undefined;
}

export interface RawResponse {
  status: number;
  headers: Headers;
  text: string;
  /** The `cursor` of the next page of a list; `undefined` on the last page. */
  nextCursor: string | undefined;
}

export interface RawOptions extends PostOptions {
  /** What the `Content-Type` of a response contains; `json` unless set. */
  accepts?: string | undefined;
}

/** The operations that have limits of their own, or none. */
const lanes: Readonly<Record<string, Lane>> = {
  '/account': 'account',
  '/account/plan-requests': 'account',
  '/keys/revoke-leaked': 'service',
  '/healthz': 'service',
  '/readyz': 'service',
  '/openapi.json': 'service',
  '/openapi.yaml': 'service',
};

/** Sends any request within the limits of the client, and again as the other calls. A POST has an `Idempotency-Key`. */
export function send(client: Client, request: RawRequest, options?: RawOptions): Promise<RawResponse> {
  const sent = rawRequestOf(client, request, options);
  return exchange(client, sent, async response => {
    const { headers, status } = response;
    return { status, headers, text: await response.text(), nextCursor: nextCursorOf(headers) };
  });
}

/** Yields the messages of a stream until it ends. The first one is its position in the log, without `data`. */
export async function* stream(
  client: Client,
  path: string,
  options: RawOptions = {},
): AsyncGenerator<Message> {
  const request = rawRequestOf(client, { method: 'GET', path }, { ...options, accepts: 'event-stream' });
  const body = await exchange(client, request, async ({ body }) => body);
  if (body) yield* messagesIn(body, client.clock, options.signal);
}

/** Returns the URL of a path. Throws a `PetStoreError` for a path that leads out of the API. */
export function urlOf({ baseUrl }: Pick<Client, 'baseUrl'>, path: string): URL {
  const text = baseUrl + path.slice(1);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // Dots could lead above the base URL.
  if (/^\/(?!\/)/.test(path) && url?.href.startsWith(baseUrl)) return url;
  throw new PetStoreError(`A path looks like /pets?limit=3, not ${JSON.stringify(path)}`);
}

/** Returns the path of a URL below the base URL, without its query. */
export function pathOf({ baseUrl }: Pick<Client, 'baseUrl'>, url: URL): string {
  return url.pathname.slice(new URL(baseUrl).pathname.length - 1);
}

function rawRequestOf(client: Client, { method, path, body }: RawRequest, options: RawOptions = {}): Request {
  if (method === 'GET' && body)
    throw new PetStoreError('A GET has no body: write its values into the path, such as /pets?limit=3');
  const url = urlOf(client, path);
  const place = pathOf(client, url);
  const lane = lanes[place.replace(/\/\d+$/, '')];
  const { operations } = (body ?? {}) as { operations?: unknown };
  const cost = place === '/batch' && Array.isArray(operations) ? operations.length : 0;
  // The service rejects a wait in another form.
  const [wait] = (place === '/events' && /^\d{1,2}$/.exec(url.searchParams.get('wait') ?? '')) || [0];
  const further = {
    ...(lane && { pacer: pacerOf(client, lane) }),
    // The others of this lane describe the present state, so they are not sent again.
    ...(lane === 'service' && method !== 'POST' && { maxRetries: 0 }),
    cost: cost || 1,
    ...defined(options),
    // As in `events.list`.
    timeout: (options.timeout ?? client.timeout) + Number(wait) * 1000,
    isSlow: Number(wait) > 0,
  };
  const own = method === 'POST' ? withIdempotencyKey(further) : further;
  const request = requestOf(client, `${method} /` as OperationName, [body], own);
  return { ...request, operation: `${method} ${place}`, url: url.href };
}
