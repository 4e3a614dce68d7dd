import { type Clock, systemClock } from './clock.ts';
import { createPacer, type Pacer, type Wait } from './pacer.ts';

export interface ClientOptions {
  /** The URL of the service, such as `https://petstore.example`. It may have a path. */
  baseUrl: string;
  /** A secret key, or in pages of browsers a publishable key. Without one only `service` operations work. */
  apiKey?: string;
  /** The longest wait for a limit, in milliseconds; 60,000 unless set. A longer one throws `WaitTooLongError` at once. */
  maxWait?: number;
  /** Is called once for each wait, when the first call has to wait. */
  onWait?: (wait: Wait) => void;
  /** How many requests may be in flight; 10 unless set. With more, a client that shares its key could get it banned. */
  maxConcurrent?: number;
  /** How often a call is sent again after a 503 or a broken connection; 5 unless set. */
  maxRetries?: number;
  /** How long one request may take, in milliseconds; 60,000 unless set. After that it counts as a broken connection. */
  timeout?: number;
  /** Sends the requests; the global `fetch` unless set. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** For tests of the client. */
  clock?: Clock;
}

/** What the functions of the client need: the settings, and the shared view of the limits. Create it with `createClient`. */
export interface Client extends Required<Omit<ClientOptions, 'apiKey' | 'onWait'>> {
  readonly apiKey?: string;
  /** The state of the limits of the API key, for all calls. */
  readonly pacer: Pacer;
  /** `GET /account` has limits of its own, and works during a ban. */
  readonly accountPacer: Pacer;
  /** Operations without a key use no quota, and work while the API is unavailable. */
  readonly servicePacer: Pacer;
  /** The deprecated operations that a warning was given for. */
  readonly warned: Set<string>;
}

export function createClient({ baseUrl, ...options }: ClientOptions): Client {
  const settings = {
    maxWait: 60_000,
    maxConcurrent: 10,
    maxRetries: 5,
    timeout: 60_000,
    fetch: (url: string, init: RequestInit) => fetch(url, init),
    clock: systemClock,
    ...options,
  };
  return {
    ...settings,
    baseUrl: new URL(baseUrl.replace(/\/*$/, '/')).href,
    pacer: createPacer(settings),
    accountPacer: createPacer(settings),
    servicePacer: createPacer(settings),
    warned: new Set(),
  };
}
