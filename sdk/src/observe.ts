import type { ClientOptions, SentRequest } from './client.ts';
import { reportQuotas, type UsedQuota } from './quotas.ts';

/** A request that the client sends, without its headers, which contain the API key. */
export interface ObservedRequest extends SentRequest {
  method: string;
  url: string;
}

/** A response, and its request. */
export interface ReceivedResponse extends ObservedRequest {
  status: number;
  headers: Headers;
}

export interface ObservedOptions extends ClientOptions {
  /** Is called for each request, to find errors. It cannot change the request, and an exception in it does not reach the call. */
  onRequest?: ((request: ObservedRequest) => void) | undefined;
  /** Is called for each response. */
  onResponse?: ((response: ReceivedResponse) => void) | undefined;
  /** Is called once a day for each part of its limits that the key has used: 80, 95 and 100 percent of the day, and all of 5 in 10 minutes. */
  onQuota?: ((quota: UsedQuota) => void) | undefined;
}

/** Returns the options of a client that reports its requests, responses and used limits, and warns once of each deprecated operation (RFC 9745, RFC 8594). */
export function observed({
  onRequest,
  onResponse,
  onQuota,
  fetch,
  ...options
}: ObservedOptions): ClientOptions {
  const warned = new Set<string>();
  const reported = new Set<string>();
  return {
    ...options,
    fetch: async (url, init, sent) => {
      const request = { ...sent, method: init.method!, url };
      // An error in a listener does not end the work of the client: the program gets it, uncaught.
      queueMicrotask(() => onRequest?.(request));
      const response = await (fetch ?? globalThis.fetch)(url, init, sent);
      const { status, headers } = response;
      queueMicrotask(() => onResponse?.({ ...request, status, headers }));
      if (onQuota) queueMicrotask(() => reportQuotas(headers, reported, onQuota));
      if (headers.has('Deprecation') && !warned.has(sent.operation)) {
        warned.add(sent.operation);
        // biome-ignore lint/suspicious/noConsole: where programs expect warnings
        console.warn(`${sent.operation} is deprecated and ends on ${headers.get('Sunset')}`);
      }
      return response;
    },
  };
}
