import { type Clock, SECOND } from '../../kit/clock.ts';
import { formatTraceparent } from '../../kit/trace-context.ts';
import type { Tracing } from '../../kit/tracing.ts';
import { traceOfEvent } from '../event-log/event.ts';
import { type EventType, mayRead, readScopeOf, TEST_TYPE } from '../event-log/event-types.ts';
import { attempt, type Outcome } from './attempt.ts';
import type { AttemptResult } from './attempt-results.ts';
import { beginAttemptSpan, endAttemptSpan } from './attempt-span.ts';
import { type ConnectionLimits, Connections, type Destination } from './connections.ts';
import { messageId } from './delivery.ts';
import type { LeasedDelivery } from './delivery-queries.ts';
import type { Endpoints } from './endpoints.ts';
import type { Attempted, Claim, Ended } from './exchange.ts';
import { KeptConnections } from './kept-connections.ts';
import type { WebhookRow } from './webhook-queries.ts';

export interface SenderOptions {
  clock: Clock;
  endpoints: Endpoints;
  connections: ConnectionLimits;
  /** How long an attempt may take, in milliseconds. */
  timeout: number;
  /** Returns a number from 0 to 1. */
  random: () => number;
  /** Records each attempt if spans are exported. */
  tracing?: Tracing | undefined;
  /** Called after each attempt that was not aborted. */
  onAttempt: (result: AttemptResult) => void;
  onError: (error: unknown) => void;
}

/** A running attempt. */
interface Sending {
  webhookId: number;
  abort: AbortController;
}

/** Makes the attempts of this process, which share their connections. */
export class Sender {
  readonly connections: Connections;
  readonly #options: SenderOptions;
  readonly #kept: KeptConnections;
  readonly #running = new Set<Sending>();

  constructor(options: SenderOptions) {
    this.#options = options;
    this.connections = new Connections(options.connections);
    this.#kept = new KeptConnections(this.connections);
  }

  /** Sends a claimed delivery on a connection that was taken for `destination`. Calls `onEnd` when the connection is free. */
  begin(
    claimed: Claim,
    delivery: LeasedDelivery,
    destination: Destination,
    onEnd: (ended: Ended) => void,
  ): void {
    const sending = { webhookId: delivery.webhook_id, abort: new AbortController() };
    this.#running.add(sending);
    this.#send(claimed, delivery, sending.abort.signal)
      .catch(error => {
        this.#options.onError(error);
        return undefined;
      })
      .then(attempted => {
        this.#running.delete(sending);
        this.connections.free(destination, 1);
        onEnd({ delivery, attempted });
      })
      .catch(this.#options.onError);
  }

  /** Aborts all attempts, or those of a webhook. Whether the endpoint has accepted them is unknown. */
  abort(webhookId?: number): void {
    for (const sending of this.#running)
      if (webhookId === undefined || sending.webhookId === webhookId) sending.abort.abort();
  }

  close(): void {
    this.#kept.close();
  }

  async #send(
    { webhook, scopes }: Claim,
    delivery: LeasedDelivery,
    signal: AbortSignal,
  ): Promise<Attempted | undefined> {
    const { clock, random, onAttempt } = this.#options;
    const startedAt = clock.now();
    const isTest = delivery.type === TEST_TYPE;
    const type = delivery.type as EventType;
    const isWithheld = !isTest && !mayRead(scopes, type);
    const outcome = isWithheld ? withheld(type) : await this.#attempt(webhook, delivery, startedAt, signal);
    if (!outcome) return undefined;
    onAttempt(outcome.result);
    const kind = isWithheld ? 'withheld' : isTest ? 'test' : 'event';
    return { startedAt, outcome, random: random(), kind };
  }

  async #attempt(
    webhook: WebhookRow,
    delivery: LeasedDelivery,
    now: number,
    signal: AbortSignal,
  ): Promise<Outcome | undefined> {
    const { endpoints, timeout, tracing } = this.#options;
    const span = tracing && beginAttemptSpan(tracing, webhook, delivery);
    const trace = span ? span.context : traceOfEvent(delivery.payload);
    const message = {
      id: messageId(delivery),
      timestamp: Math.floor(now / SECOND),
      body: delivery.payload,
      traceparent: trace && formatTraceparent(trace),
    };
    const target = { url: webhook.url, secrets: secretsOf(webhook, now) };
    const outcome = await attempt({ endpoints, kept: this.#kept }, target, message, { timeout, signal });
    if (span) endAttemptSpan(span, outcome);
    return outcome;
  }
}

function secretsOf(
  { secret, previous_secret, previous_secret_expires_at: expiresAt }: WebhookRow,
  now: number,
): string[] {
  const isPreviousValid = expiresAt !== null && expiresAt > now;
  return previous_secret !== null && isPreviousValid ? [secret, previous_secret] : [secret];
}

/** The outcome when the key of the webhook has lost the scope that events of this type need. */
function withheld(type: EventType): Outcome {
  return {
    result: 'withheld',
    status: null,
    retryAfter: undefined,
    error: `Not sent: the API key that created the webhook lacks the scope \`${readScopeOf(type)}\` for events \`${type}\``,
    responseStart: null,
    duration: 0,
  };
}
