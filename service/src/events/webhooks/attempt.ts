import type { ClientRequest, IncomingMessage } from 'node:http';
import https from 'node:https';
import { type Clock, SECOND } from '../../kit/clock.ts';
import { http } from '../../kit/node-http.ts';
import { asError, codeOf, messageOf } from '../../kit/thrown.ts';
import { formatTraceparent, type TraceContext } from '../../kit/trace-context.ts';
import type { Span, Tracing } from '../../kit/tracing.ts';
import { CLOUD_EVENT, traceOfEvent } from '../event-log/event.ts';
import type { Connections } from './connections.ts';
import { messageId, RESPONSE_STORED } from './delivery.ts';
import { type Attempted, type AttemptResult, type Outcome, withheldReason } from './delivery-rules.ts';
import { type Endpoints, NoPublicAddress } from './endpoints.ts';
import type { Claimed } from './lane-rules.ts';
import { signatures } from './signature.ts';

export interface AttemptOptions {
  clock: Clock;
  endpoints: Endpoints;
  connections: Connections;
  /** How long an attempt may take, in milliseconds. */
  timeout: number;
  /** Returns a number from 0 to 1. */
  random: () => number;
  /** Records each attempt if spans are exported. */
  tracing?: Tracing | undefined;
  /** Called after each attempt that was not aborted. */
  onAttempt: (result: AttemptResult) => void;
}

/**
 * Sends a claimed delivery, for which a connection was taken, unless the key of the webhook has lost the scope for the event.
 * Returns `undefined` if `signal` aborted the attempt: whether the endpoint has accepted the event is then unknown.
 */
export async function attempt(
  claimed: Claimed,
  signal: AbortSignal,
  options: AttemptOptions,
): Promise<Attempted | undefined> {
  const { webhook, scopes, delivery } = claimed;
  const { clock, tracing, random, onAttempt } = options;
  const startedAt = clock.now();
  const reason = withheldReason(delivery, { keyId: webhook.api_key_id, scopes });
  const span = reason === undefined && tracing ? beginSpan(tracing, claimed) : undefined;
  const trace = span?.context ?? traceOfEvent(delivery.payload);
  const outcome =
    reason === undefined
      ? await send(webhook.url, headersOf(claimed, trace, startedAt), delivery.payload, signal, options)
      : ({ ...NOTHING, result: 'withheld', error: `Not sent: ${reason}` } as const);
  if (span) endSpan(span, outcome);
  if (outcome) onAttempt(outcome.result);
  return outcome && { startedAt, outcome, random: random() };
}

/** The outcome without a response. */
const NOTHING = { status: null, retryAfter: undefined, responseStart: null, duration: 0 };

function headersOf(
  { webhook, delivery }: Claimed,
  trace: TraceContext | undefined,
  now: number,
): Record<string, string | number> {
  const { secret, previous_secret, previous_secret_expires_at: expiresAt } = webhook;
  const isPreviousValid = previous_secret !== null && expiresAt !== null && expiresAt > now;
  const secrets = isPreviousValid ? [secret, previous_secret] : [secret];
  const message = { id: messageId(delivery), timestamp: Math.floor(now / SECOND), body: delivery.payload };
  return {
    'content-type': CLOUD_EVENT,
    'content-length': Buffer.byteLength(message.body),
    'user-agent': 'petstore-webhooks/1',
    'webhook-id': message.id,
    'webhook-timestamp': message.timestamp,
    'webhook-signature': signatures(secrets, message),
    ...(trace && { traceparent: formatTraceparent(trace) }),
  };
}

/** What was received of a response. */
interface Received {
  response: IncomingMessage | undefined;
  chunks: Buffer[];
}

/** Sends a POST once. Returns `undefined` if it was aborted. */
export async function send(
  url: string,
  headers: Record<string, string | number>,
  body: string,
  signal: AbortSignal,
  { endpoints, connections, timeout }: Pick<AttemptOptions, 'endpoints' | 'connections' | 'timeout'>,
): Promise<Outcome | undefined> {
  const started = performance.now();
  const end = new AbortController();
  const late = new Error(`No complete response within ${timeout / SECOND} seconds`);
  const timer = setTimeout(() => end.abort(late), timeout);
  const onAbort = () => end.abort();
  signal.addEventListener('abort', onAbort, { once: true });
  const received: Received = { response: undefined, chunks: [] };
  let error: Error | undefined;
  try {
    const target = new URL(url);
    endpoints.rejectAddress(target.hostname);
    const connection = connections.open(target);
    const { request } = target.protocol === 'https:' ? https : http;
    const { agent } = connection;
    const options = { method: 'POST', agent, lookup: endpoints.lookup, headers, signal: end.signal };
    try {
      while (!(await exchange(request(target, options), body, received)));
    } finally {
      connections.keep(connection);
    }
  } catch (thrown) {
    error = asError(end.signal.reason ?? thrown);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
  if (error && end.signal.aborted && error !== late) return undefined;
  // Nothing was sent, and the time would reveal whether the name exists in the network of the service.
  const duration = error instanceof NoPublicAddress ? 0 : Math.round(performance.now() - started);
  const outcome = { ...outcomeOf(received, error), duration };
  return error === late ? { ...outcome, result: 'timeout' } : outcome;
}

/**
 * Sends a request and reads the part of the response that is stored. Resolves when the connection is free for the next request,
 * with false if the request must be sent again, because the endpoint closed the kept connection at the same time.
 */
function exchange(request: ClientRequest, body: string, received: Received): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const closed = (how: string) =>
      new Error(
        `The receiver closed the connection ${received.response ? 'during its' : 'without a'} response: ${how}`,
      );
    request.on('error', error => {
      const isClosed = ['ECONNRESET', 'EPIPE'].includes(codeOf(error) ?? '');
      if (isClosed && request.reusedSocket && !received.response) resolve(false);
      else reject(isClosed ? closed(error.message) : error);
    });
    request.on('response', response => {
      received.response = response;
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        received.chunks.push(chunk);
        length += chunk.length;
        if (length < RESPONSE_STORED) return;
        // The rest of the response is not read, so the connection cannot be kept.
        resolve(true);
        request.destroy();
      });
    });
    request.on('close', () => {
      if (received.response?.complete) resolve(true);
      else reject(closed('no further data'));
    });
    request.end(body);
  });
}

function outcomeOf({ response, chunks }: Received, error: Error | undefined): Outcome {
  if (!response) return { ...NOTHING, result: 'unreachable', error: reasonOf(error!) };
  const status = response.statusCode!;
  const retryAfter = response.headers['retry-after'];
  const responseStart = printable(Buffer.concat(chunks).subarray(0, RESPONSE_STORED));
  const shown = { status, retryAfter, responseStart, duration: 0 };
  if (error) return { ...shown, result: 'unreachable', error: reasonOf(error) };
  if (status >= 200 && status < 300) return { ...shown, result: 'delivered', error: null };
  const note = status >= 300 && status < 400 ? ': redirects are not followed' : '';
  return { ...shown, result: 'rejected', error: `Status ${status}${note}` };
}

function reasonOf(error: Error): string {
  return printable(Buffer.from(messageOf(error)).subarray(0, RESPONSE_STORED));
}

/** Returns a text without characters that cannot be shown or stored. */
function printable(bytes: Buffer): string {
  return bytes.toString().replace(/[^\P{C}\n\t]/gu, '\ufffd');
}

/**
 * Starts the span of an attempt, in the trace of its event. The span has only the origin of the URL, because path and query
 * can contain a token (semantic conventions for HTTP, `url.full`).
 */
function beginSpan(tracing: Tracing, { webhook, delivery }: Claimed): Span {
  const { origin, protocol, hostname, port } = new URL(webhook.url);
  return tracing.begin('POST', {
    kind: 'client',
    parent: traceOfEvent(delivery.payload),
    attributes: () => ({
      'http.request.method': 'POST',
      'http.request.resend_count': delivery.attempts || undefined,
      'url.full': `${origin}/REDACTED`,
      'server.address': hostname,
      'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
      'cloudevents.event_id': String(delivery.event_id),
      'cloudevents.event_type': delivery.type,
      'cloudevents.event_subject': delivery.subject,
      'petstore.webhook.id': delivery.webhook_id,
      'petstore.delivery.id': delivery.id,
    }),
  });
}

/** The outcome of an aborted attempt is `undefined`. */
function endSpan(span: Span, outcome: Outcome | undefined): void {
  span.set({ 'http.response.status_code': outcome?.status ?? undefined });
  if (!outcome) span.end('aborted');
  else span.end(outcome.error === null ? undefined : String(outcome.status ?? '_OTHER'));
}
