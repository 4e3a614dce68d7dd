import type { Client } from './client.ts';
import { ConnectionError, errorOf, PetStoreError, retryAfter } from './errors.ts';
import type { Setback } from './pacer.ts';
import { defined, type Request } from './request.ts';

/** Statuses of proxies that cannot reach the service, and of a service that is starting or overloaded. */
const UNAVAILABLE = [502, 503, 504];

/**
 * Sends a request when the limits allow it, and again after a 429, a 503 or a broken connection. All operations can be
 * repeated: a POST has the same `Idempotency-Key` each time. Returns what `read` makes of a response with status 2xx.
 */
export async function exchange<T>(
  client: Client,
  request: Request,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const options = { cost: 1, ...client, ...defined(request.options) };
  const { clock, maxRetries, pacer, signal, timeout } = options;
  const init = initOf(client, request);
  for (let failures = 0; ; failures++) {
    const epoch = await pacer.enter(options);
    const attempt = new AbortController();
    // If the signal of the call is aborted, the call throws the reason of that signal instead.
    const abort = () => attempt.abort(new ConnectionError(`No response within ${timeout} ms`));
    const cancelTimer = clock.after(timeout, abort);
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
    let response: Response | undefined;
    try {
      response = await client.fetch(request.url, { ...init, signal: attempt.signal });
      warnOfDeprecation(client, request, response);
      if (!response.ok) throw errorOf(response, await response.text());
      const result = await read(response);
      pacer.leave(options, epoch, response.headers);
      return result;
    } catch (cause) {
      // Everything else is an error of `fetch`, or of a body that is not complete.
      const error =
        cause instanceof PetStoreError
          ? cause
          : new ConnectionError(`No response: ${(cause as Error).cause ?? cause}`, { cause });
      const setback = signal?.aborted ? undefined : setbackOf(error, response);
      if (!setback) {
        pacer.leave(options, epoch, response?.headers);
        throw signal?.aborted ? signal.reason : error;
      }
      const isHopeless = Math.max(pacer.stop(options, epoch, setback), failures + 1) > maxRetries;
      if (setback.reason === 'unavailable' && isHopeless) throw error;
    } finally {
      cancelTimer();
      signal?.removeEventListener('abort', abort);
    }
  }
}

/** Returns why the request must be sent again, and how long to wait at least; `undefined` if it must not. */
function setbackOf(error: PetStoreError, response: Response | undefined): Setback | undefined {
  if (!response || error instanceof ConnectionError) return { reason: 'unavailable', after: 0, error };
  const { status, headers } = response;
  const after = retryAfter(headers) ?? 0;
  if (status === 429) {
    // A limit of something else does not concern other calls.
    if (error.code === 'too_many_streams') return undefined;
    return { reason: error.code === 'api_key_banned' ? 'ban' : 'limit', after: after || 1000, error };
  }
  const shouldRetry = headers.get('X-Should-Retry') ?? String(UNAVAILABLE.includes(status));
  return shouldRetry === 'true' ? { reason: 'unavailable', after, error } : undefined;
}

function initOf(client: Client, { method, body, options }: Request): RequestInit {
  const headers = {
    'X-API-Key': client.apiKey,
    'Content-Type': body && 'application/json',
    'Idempotency-Key': options.idempotencyKey,
    'If-Match': options.ifMatch,
    'If-None-Match': options.ifNoneMatch,
    ...options.headers,
  };
  return {
    method,
    headers: headersOf(defined(headers)),
    // A redirect could lead the API key to another server.
    redirect: 'manual',
    body: JSON.stringify(body),
  };
}

/** Throws for a value that no header can have, because `fetch` would fail each time. The value may be a secret: it is not shown. */
function headersOf(values: Record<string, string>): Headers {
  try {
    return new Headers(values);
  } catch {
    throw new PetStoreError('The API key or another header has characters that HTTP does not allow');
  }
}

/** Warns once of each deprecated operation (RFC 9745, RFC 8594). */
function warnOfDeprecation({ warned }: Client, { operation }: Request, { headers }: Response): void {
  if (!headers.has('Deprecation') || warned.has(operation)) return;
  warned.add(operation);
  // biome-ignore lint/suspicious/noConsole: where programs expect warnings
  console.warn(`${operation} is deprecated and ends on ${headers.get('Sunset')}`);
}
