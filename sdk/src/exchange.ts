import type { Client } from './client.ts';
import { onAbort, sleep } from './clock.ts';
import { defined } from './defined.ts';
import { ConnectionError, dateAfter, errorOf, PetStoreError, retryAfter } from './errors.ts';
import { spreadAfter, tooLong, type WaitReason } from './pacer.ts';
import type { Request } from './request.ts';

/**
 * How long a POST that may have been executed is sent again, in milliseconds. The service stores its outcome for 24 hours. An hour less
 * leaves time for clocks that differ and for the request itself.
 */
const LIFETIME = 23 * 60 * 60 * 1000;

/** Throws an error for headers with which `fetch` would fail as if the connection had broken. */
function rejectInvalid(headers: Request['init']['headers']): void {
  try {
    new Headers(headers);
  } catch {
    throw new PetStoreError('A header has invalid characters');
  }
}

/**
 * Sends a request when the limits allow it, and again after a 429, a 503 or a broken connection. All operations can be
 * repeated: a POST has the same `Idempotency-Key` each time, and is sent only as long as the service stores its outcome. Returns
 * what `read` makes of a response of the service with status 2xx, which has the media type that the operation returns.
 */
export async function exchange<T>(
  client: Client,
  { operation, url, init, options: own }: Request,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const options = { cost: 1, ...client, ...defined(own) };
  const { accepts, clock, maxRetries, maxWait, pacer, signal, timeout } = options;
  rejectInvalid(init.headers);
  // The error of the first try of a POST that may have been executed, and when the POST can no longer be sent again.
  let inDoubt: PetStoreError | undefined;
  let expiresAt = Number.POSITIVE_INFINITY;
  // The wait of this call alone, in milliseconds.
  let pause = 0;
  for (let attempt = 1; ; attempt++) {
    if (pause) await sleep(clock, pause, signal);
    pause = 0;
    const epoch = await pacer.enter(options).catch(error => {
      signal?.throwIfAborted();
      throw inDoubt ?? error;
    });
    const enteredAt = clock.now();
    // The time of `clock` may stop while the machine sleeps.
    const sentAt = Date.now();
    const controller = new AbortController();
    // If the signal of the call is aborted, the call throws the reason of that signal instead.
    const abort = () => controller.abort(new ConnectionError(`No response from ${url} within ${timeout} ms`));
    const cancelTimer = clock.after(timeout, abort);
    const ignoreSignal = onAbort(signal, abort);
    let headers: Headers | undefined;
    try {
      if (sentAt > expiresAt) throw inDoubt;
      // `fetch` of a browser must not be a method of the client.
      const sent = { operation, attempt };
      const response = await (client.fetch ?? fetch)(url, { ...init, signal: controller.signal }, sent);
      headers = response.headers;
      // A proxy or another server may respond with a page, and any status.
      const isExpected = accepts ? headers.get('Content-Type')?.includes(accepts) : response.status === 204;
      if (!response.ok || !isExpected) throw errorOf(response, await response.text(), url);
      return await read(response);
    } catch (cause) {
      // Everything else is an error of `fetch`, or of a body that is not complete.
      const error =
        cause instanceof PetStoreError
          ? cause
          : new ConnectionError(`No response from ${url}: ${(cause as Error).cause ?? cause}`, { cause });
      const reason = reasonOf(error, headers);
      signal?.throwIfAborted();
      if (!reason || error === inDoubt) throw error;
      if (!inDoubt && reason === 'unavailable' && init.method === 'POST') {
        inDoubt = error;
        expiresAt = sentAt + LIFETIME;
      }
      // Another call with the same key is running. It does not concern the others.
      if (error.code === 'idempotency_key_in_use') {
        if (attempt > maxRetries) throw error;
        pause = clock.random() * spreadAfter(attempt - 1);
        continue;
      }
      const milliseconds = retryAfter(headers) || (reason === 'unavailable' ? 0 : 1000);
      // The key has requests left: smaller calls do not wait for a batch that is given up.
      if (reason === 'limit' && milliseconds > maxWait && Number(headers?.get('X-RateLimit-Remaining')))
        throw inDoubt ?? tooLong({ reason, retryAt: dateAfter(milliseconds), error });
      headers = undefined;
      const setbacks = pacer.stop(epoch, { reason, milliseconds, error });
      if (reason === 'unavailable' && Math.max(setbacks, attempt) > maxRetries) throw error;
    } finally {
      cancelTimer();
      ignoreSignal();
      pacer.leave(options, epoch, enteredAt, headers);
    }
  }
}

/** Returns why the request must be sent again; `undefined` if it must not. Without a status no response has arrived. */
function reasonOf({ status, code }: PetStoreError, headers: Headers | undefined): WaitReason | undefined {
  // A limit of something else does not concern other calls.
  if (code === 'too_many_streams') return undefined;
  if (status === 429 && code) return code === 'api_key_banned' ? 'ban' : 'limit';
  // Of proxies that cannot reach the service or have limits of their own, and of a service that is starting or overloaded.
  const isUnavailable = [429, 502, 503, 504].includes(status ?? 503);
  const shouldRetry = headers?.get('X-Should-Retry') ?? String(isUnavailable);
  return shouldRetry === 'true' ? 'unavailable' : undefined;
}
