import type { ClientRequest, IncomingMessage } from 'node:http';
import https from 'node:https';
import { SECOND } from '../../kit/clock.ts';
import { http } from '../../kit/node-http.ts';
import { asError, codeOf } from '../../kit/thrown.ts';
import type { AttemptResult } from './attempt-results.ts';
import { RESPONSE_STORED } from './delivery.ts';
import { type Endpoints, NoPublicAddress } from './endpoints.ts';
import type { KeptConnections } from './kept-connections.ts';
import { type Message, signatures } from './signature.ts';

/** How long an endpoint may take to respond, in milliseconds. */
export const RESPONSE_TIMEOUT = 15 * SECOND;

export interface Target {
  url: string;
  /** The valid secrets, the current one first. */
  secrets: readonly string[];
}

export interface Limits {
  /** How long the attempt may take, in milliseconds. */
  timeout: number;
  /** Aborts the attempt; its outcome is then unknown. */
  signal: AbortSignal;
}

/** The outcome of an attempt. */
export interface Outcome {
  result: AttemptResult;
  /** The status of the response; null if there was none. */
  status: number | null;
  retryAfter: string | undefined;
  /** Why the attempt failed; null if it succeeded. */
  error: string | null;
  responseStart: string | null;
  /** How long the attempt took, in milliseconds. */
  duration: number;
}

/** Sends a message once. Returns `undefined` if the attempt was aborted. */
export async function attempt(
  { endpoints, kept }: { endpoints: Endpoints; kept: KeptConnections },
  { url, secrets }: Target,
  message: Message,
  { timeout, signal }: Limits,
): Promise<Outcome | undefined> {
  const started = performance.now();
  const headers = headersOf(message, secrets);
  let exchange = new Exchange();
  const late = new Error(`No complete response within ${timeout / SECOND} seconds`);
  const timer = setTimeout(() => exchange.fail(late), timeout);
  const aborted = new Error('Aborted');
  const onAbort = () => exchange.fail(aborted);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const target = new URL(url);
    endpoints.rejectAddress(target.hostname);
    const send = target.protocol === 'https:' ? https.request : http.request;
    const options = { method: 'POST', agent: kept.agentFor(target), lookup: endpoints.lookup, headers };
    for (;;) {
      exchange.begin(send(target, options), message.body);
      await exchange.ended;
      if (!exchange.hitClosedConnection) break;
      exchange = new Exchange();
    }
  } catch (error) {
    exchange.error ??= asError(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
  if (exchange.error === aborted) return undefined;
  // Nothing was sent, and the time would reveal whether the name exists in the network of the service.
  const isUnsent = exchange.error instanceof NoPublicAddress;
  const outcome = exchange.outcome(isUnsent ? 0 : Math.round(performance.now() - started));
  return exchange.error === late ? { ...outcome, result: 'timeout' } : outcome;
}

function headersOf(message: Message, secrets: readonly string[]): Record<string, string | number> {
  return {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(message.body),
    'user-agent': 'petstore-webhooks/1',
    'webhook-id': message.id,
    'webhook-timestamp': message.timestamp,
    'webhook-signature': signatures(secrets, message),
    ...(message.traceparent !== undefined && { traceparent: message.traceparent }),
  };
}

/** One request, and the part of its response that is stored. */
class Exchange {
  readonly ended: Promise<void>;
  error: Error | undefined;
  readonly #end: () => void;
  readonly #chunks: Buffer[] = [];
  #request: ClientRequest | undefined;
  #response: IncomingMessage | undefined;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#end = resolve;
  }

  begin(request: ClientRequest, body: string): void {
    this.#request = request;
    request.on('error', error => this.fail(error));
    request.on('response', response => this.#read(response));
    // When the request closes, a kept connection is free for the next request.
    request.on('close', () => this.#closed());
    request.end(body);
  }

  /** Whether the request used a kept connection that the endpoint closed at the same time. */
  get hitClosedConnection(): boolean {
    const code = codeOf(this.error);
    const isClosed = code === 'ECONNRESET' || code === 'EPIPE';
    return isClosed && this.#request?.reusedSocket === true && this.#response === undefined;
  }

  fail(error: Error): void {
    this.error ??= error;
    this.#finish();
  }

  outcome(duration: number): Outcome {
    const status = this.#response?.statusCode ?? null;
    return {
      result: resultOf(this.error, status),
      status,
      retryAfter: this.#response?.headers['retry-after'],
      error: this.error ? reasonOf(this.error) : errorOf(status!),
      responseStart: this.#response
        ? printable(Buffer.concat(this.#chunks).subarray(0, RESPONSE_STORED))
        : null,
      duration,
    };
  }

  /** `close` comes before the error of an incomplete response. */
  #closed(): void {
    if (this.#response?.complete) this.#end();
    else this.fail(new Error(this.#response ? 'aborted' : 'socket hang up'));
  }

  #read(response: IncomingMessage): void {
    this.#response = response;
    let length = 0;
    response.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      length += chunk.length;
      // The rest of the response is not read, so the connection cannot be kept.
      if (length >= RESPONSE_STORED) this.#finish();
    });
    response.on('error', error => this.fail(error));
  }

  /** Ends the exchange. The rest of the response is not read, and later errors are ignored. */
  #finish(): void {
    this.#end();
    this.#request?.removeAllListeners('error').on('error', () => {});
    this.#response?.removeAllListeners('error').on('error', () => {});
    this.#request?.destroy();
  }
}

function resultOf(error: Error | undefined, status: number | null): AttemptResult {
  if (error || status === null) return 'unreachable';
  return errorOf(status) === null ? 'delivered' : 'rejected';
}

function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `Status ${status}: redirects are not followed`;
  return `Status ${status}`;
}

/** Returns the text of an error. If a name has several addresses, Node combines their errors into one without a message. */
function reasonOf(error: Error): string {
  const errors: Error[] = error instanceof AggregateError ? error.errors : [error];
  const reason = errors.map(({ name, message }) => message || name).join('; ');
  return printable(Buffer.from(reason).subarray(0, RESPONSE_STORED));
}

/** Returns a text without characters that cannot be shown or stored. */
function printable(bytes: Buffer): string {
  return bytes.toString().replace(/[^\P{C}\n\t]/gu, '\ufffd');
}
