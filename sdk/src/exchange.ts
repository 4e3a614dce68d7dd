import type { Client } from './client.ts';
import { notify, onAbort } from './clock.ts';
import { defined } from './defined.ts';
import { ConnectionError, errorOf, PetStoreError, retryAfter } from './errors.ts';
import type { WaitReason } from './pacer.ts';
import type { Request } from './request.ts';
import { VERSION } from './version.ts';

/** Statuses of proxies that cannot reach the service or have limits of their own, and of a service that is starting or overloaded. */
const UNAVAILABLE = [429, 502, 503, 504];

/** Pages of browsers have no version of Node.js: some browsers do not let them set `User-Agent`, and others ask the service first. */
const node = (globalThis as { process?: { versions?: { node?: string } } }).process?.versions?.node;
const USER_AGENT = node && `petstore-client/${VERSION} (node ${parseInt(node, 10)})`;

/**
 * Sends a request when the limits allow it, and again after a 429, a 503 or a broken connection. All operations can be
 * repeated: a POST has the same `Idempotency-Key` each time. Returns what `read` makes of a response of the service with status
 * 2xx, which has the media type that the operation returns.
 */
export async function exchange<T>(
  client: Client,
  request: Request,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const options = { cost: 1, accepts: 'json', ...client, ...defined(request.options) };
  const { accepts, clock, maxRetries, onRequest, onResponse, pacer, signal, timeout } = options;
  const url = request.url.href;
  const init = initOf(client, request);
  for (let failures = 0; ; failures++) {
    const epoch = await pacer.enter(options);
    const attempt = new AbortController();
    // If the signal of the call is aborted, the call throws the reason of that signal instead.
    const abort = () => attempt.abort(new ConnectionError(`No response from ${url} within ${timeout} ms`));
    const cancelTimer = clock.after(timeout, abort);
    const ignoreSignal = onAbort(signal, abort);
    let headers: Headers | undefined;
    try {
      const sent = { method: request.method, url, attempt: failures + 1 };
      notify(onRequest, sent);
      // `fetch` of a browser must not be a method of the client.
      const response = await (client.fetch ?? fetch)(url, { ...init, signal: attempt.signal });
      const { ok, status } = response;
      headers = response.headers;
      notify(onResponse, { ...sent, status, headers });
      warnOfDeprecation(client, request, headers);
      // A proxy or another server may respond with a page, and any status.
      const isExpected = ok && (status === 204 || headers.get('Content-Type')?.includes(accepts));
      if (!isExpected) throw errorOf(response, await response.text(), url);
      return await read(response);
    } catch (cause) {
      // Everything else is an error of `fetch`, or of a body that is not complete.
      const error =
        cause instanceof PetStoreError
          ? cause
          : new ConnectionError(`No response from ${url}: ${(cause as Error).cause ?? cause}`, { cause });
      const reason = reasonOf(error, headers);
      signal?.throwIfAborted();
      if (!reason) throw error;
      const milliseconds = retryAfter(headers) || (reason === 'unavailable' ? 0 : 1000);
      headers = undefined;
      const setbacks = pacer.stop(epoch, { reason, milliseconds, error });
      if (reason === 'unavailable' && Math.max(setbacks, failures + 1) > maxRetries) throw error;
    } finally {
      cancelTimer();
      ignoreSignal();
      pacer.leave(options, epoch, headers);
    }
  }
}

/** Returns why the request must be sent again; `undefined` if it must not. Without a status no response has arrived. */
function reasonOf({ status, code }: PetStoreError, headers: Headers | undefined): WaitReason | undefined {
  // A limit of something else does not concern other calls.
  if (code === 'too_many_streams') return undefined;
  if (status === 429 && code) return code === 'api_key_banned' ? 'ban' : 'limit';
  const shouldRetry = headers?.get('X-Should-Retry') ?? String(UNAVAILABLE.includes(status ?? 503));
  return shouldRetry === 'true' ? 'unavailable' : undefined;
}

function initOf(client: Client, { method, body, options }: Request): RequestInit {
  const headers = defined({
    'User-Agent': USER_AGENT,
    'API-Version': '1',
    'X-API-Key': client.apiKey,
    'Content-Type': body && 'application/json',
    'Idempotency-Key': options.idempotencyKey,
    'If-Match': options.ifMatch,
    'If-None-Match': options.ifNoneMatch,
    ...client.headers,
    ...options.headers,
  });
  return {
    method,
    headers,
    // A redirect could lead the API key to another server.
    redirect: 'manual',
    body: JSON.stringify(body),
  };
}

/** Warns once of each deprecated operation (RFC 9745, RFC 8594). */
function warnOfDeprecation({ warned }: Client, { operation }: Request, headers: Headers): void {
  if (!headers.has('Deprecation') || warned.has(operation)) return;
  warned.add(operation);
  // biome-ignore lint/suspicious/noConsole: where programs expect warnings
  console.warn(`${operation} is deprecated and ends on ${headers.get('Sunset')}`);
}
