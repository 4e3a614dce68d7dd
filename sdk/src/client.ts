import { type Clock, systemClock } from './clock.ts';
import { defined } from './defined.ts';
import { PetStoreError } from './errors.ts';
import { createPacer, type Pacer, type Wait } from './pacer.ts';

/** What a request of a client belongs to. */
export interface SentRequest {
  /** The operation of the contract, such as `GET /store/orders/{orderId}`. */
  operation: string;
  /** Counts the requests of a call, from 1. */
  attempt: number;
}

export interface ClientOptions {
  /**
   * The URL of the service, such as `https://petstore.example`. It may have a path, if a proxy serves the service below one. Without a
   * value, for instance because an environment variable is missing, an error is thrown at once.
   */
  baseUrl: string | undefined;
  /** A secret key, or in pages of browsers a publishable key. Without one only `service` operations work. */
  apiKey?: string | undefined;
  /** Headers of every request. The `headers` of a call replace them. */
  headers?: Record<string, string> | undefined;
  /** The longest wait for a limit, in milliseconds; 60,000 unless set. A longer one throws `WaitTooLongError` at once. */
  maxWait?: number | undefined;
  /** Is called once for each wait, when the first call has to wait. */
  onWait?: ((wait: Wait) => void) | undefined;
  /** How many requests may be in flight; 10 unless set. With more, a client that shares its key could get it banned. */
  maxConcurrent?: number | undefined;
  /** How often a call is sent again after a 503 or a broken connection; 5 unless set. */
  maxRetries?: number | undefined;
  /** How long one request may take, in milliseconds; 60,000 unless set. After that it counts as a broken connection. */
  timeout?: number | undefined;
  /** Sends the requests; the global `fetch` unless set. */
  fetch?: ((url: string, init: RequestInit, sent: SentRequest) => Promise<Response>) | undefined;
  /** For tests of the client. */
  clock?: Clock | undefined;
}

/** What the functions of the client need: the settings, and the shared view of the limits. Create it with `createClient`. */
export interface Client extends Settings, Pick<ClientOptions, 'apiKey' | 'headers' | 'fetch' | 'onWait'> {
  readonly baseUrl: string;
  /** The state of the limits of the API key, for all calls. */
  readonly pacer: Pacer;
}

/** The options that have a default. */
type Settings = {
  [Name in 'maxWait' | 'maxConcurrent' | 'maxRetries' | 'timeout' | 'clock']: NonNullable<
    ClientOptions[Name]
  >;
};

/** Creates a client. Throws a `PetStoreError` for a `baseUrl` that is not the URL of a service. An undefined option has its default. */
export function createClient({ baseUrl = '', ...options }: ClientOptions): Client {
  const settings = {
    maxWait: 60_000,
    maxConcurrent: 10,
    maxRetries: 5,
    timeout: 60_000,
    clock: systemClock,
    ...defined(options),
  };
  return {
    ...settings,
    baseUrl: hrefOf(baseUrl),
    pacer: createPacer(settings),
  };
}

function hrefOf(baseUrl: string): string {
  // `fetch` rejects a URL with a user, and nothing can follow a query.
  const [, url] = /^(https?:\/\/[^?#@\s]+?)\/*$/i.exec(baseUrl) ?? [];
  try {
    // Without a match it is no URL either.
    return new URL(`${url}/`).href;
  } catch {
    throw new PetStoreError('baseUrl is not a URL like https://petstore.example');
  }
}
