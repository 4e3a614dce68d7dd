import type { Client } from './client.ts';
import { onAbort } from './clock.ts';
import { ConnectionError, errorOf, PetStoreError, retryAfter } from './errors.ts';
import type { WaitReason } from './pacer.ts';
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
    const ignoreSignal = onAbort(signal, abort);
    let response: Response | undefined;
    try {
      response = await client.fetch(request.url.href, { ...init, signal: attempt.signal });
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
      const reason = reasonOf(error, response?.headers);
      if (signal?.aborted || !reason) {
        pacer.leave(options, epoch, response?.headers);
        signal?.throwIfAborted();
        throw error;
      }
      const milliseconds = retryAfter(response?.headers) || (reason === 'unavailable' ? 0 : 1000);
      const setbacks = pacer.stop(options, epoch, { reason, milliseconds, error });
      if (reason === 'unavailable' && Math.max(setbacks, failures + 1) > maxRetries) throw error;
    } finally {
      cancelTimer();
      ignoreSignal();
    }
  }
}

/** Returns why the request must be sent again; `undefined` if it must not. Without a status no response has arrived. */
function reasonOf({ status, code }: PetStoreError, headers: Headers | undefined): WaitReason | undefined {
  // A limit of something else does not concern other calls.
  if (code === 'too_many_streams') return undefined;
  if (status === 429) return code === 'api_key_banned' ? 'ban' : 'limit';
  const shouldRetry = headers?.get('X-Should-Retry') ?? String(!status || UNAVAILABLE.includes(status));
  return shouldRetry === 'true' ? 'unavailable' : undefined;
}

function initOf(client: Client, { method, body, options }: Request): RequestInit {
  const headers = defined({
    'X-API-Key': client.apiKey,
    'Content-Type': body && 'application/json',
    'Idempotency-Key': options.idempotencyKey,
    'If-Match': options.ifMatch,
    'If-None-Match': options.ifNoneMatch,
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
function warnOfDeprecation({ warned }: Client, { operation }: Request, { headers }: Response): void {
  if (!headers.has('Deprecation') || warned.has(operation)) return;
  warned.add(operation);
  // biome-ignore lint/suspicious/noConsole: where programs expect warnings
  console.warn(`${operation} is deprecated and ends on ${headers.get('Sunset')}`);
}
