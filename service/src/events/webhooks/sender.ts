import type { Queries, Writer } from '../../db/database.ts';
import { type Clock, SECOND } from '../../kit/clock.ts';
import { formatTraceparent } from '../../kit/trace-context.ts';
import type { Tracing } from '../../kit/tracing.ts';
import { traceOfEvent } from '../event-log/event.ts';
import { isConfidential } from '../event-log/event-types.ts';
import { attempt, type Outcome } from './attempt.ts';
import { beginAttemptSpan, endAttemptSpan } from './attempt-span.ts';
import type { Connections, Destination } from './connections.ts';
import { messageId } from './delivery.ts';
import type { LeasedDelivery } from './delivery-queries.ts';
import type { Endpoints } from './endpoints.ts';
import { type Claim, finish, giveBack } from './outbox.ts';
import type { WebhookRow } from './webhook-queries.ts';

export interface SenderOptions {
  db: Queries & Writer;
  clock: Clock;
  endpoints: Endpoints;
  connections: Connections;
  /** How long an attempt may take, in milliseconds. */
  timeout: number;
  /** Returns a number from 0 to 1. */
  random: () => number;
  /** Records each attempt, while spans are exported. */
  tracing?: Tracing | undefined;
  /** `traceId` is that of the event whose delivery was the reason. */
  onDisabled: (webhookId: number, reason: string, traceId?: string) => void;
  onError: (error: unknown) => void;
}

/** An attempt under way. */
interface Sending {
  webhookId: number;
  abort: AbortController;
  ended: Promise<void>;
}

/** Makes the attempts of this process, each on a connection of its own, and stores their outcomes. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #underWay = new Set<Sending>();

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#underWay.size === 0;
  }

  /** The attempts under way: a webhook is looked for among them once it is found to be stopped. */
  underWay(): readonly Sending[] {
    return [...this.#underWay];
  }

  countOf(webhookId: number): number {
    let count = 0;
    for (const sending of this.#underWay) if (sending.webhookId === webhookId) count++;
    return count;
  }

  /** Sends a delivery that was claimed, on a connection taken for `destination`. `onEnd` runs when its outcome is stored. */
  begin(claimed: Claim, delivery: LeasedDelivery, destination: Destination, onEnd: () => void): void {
    const { connections, onError } = this.#options;
    const abort = new AbortController();
    const ended = this.#send(claimed, delivery, abort.signal, () => connections.free(destination, 1))
      .catch(onError)
      .finally(() => {
        this.#underWay.delete(sending);
        onEnd();
      });
    const sending = { webhookId: delivery.webhook_id, abort, ended };
    this.#underWay.add(sending);
  }

  /** Resolves when the attempts that are under way now have ended. */
  async idle(): Promise<void> {
    await Promise.all(this.underWay().map(({ ended }) => ended));
  }

  /** Waits for the attempts under way, for `patience` milliseconds; breaks off the rest, which are left to other replicas. */
  async close(patience: number): Promise<void> {
    const timer = setTimeout(() => breakOff(this.underWay()), patience);
    await this.idle();
    clearTimeout(timer);
  }

  async #send(
    claimed: Claim,
    delivery: LeasedDelivery,
    signal: AbortSignal,
    disconnected: () => void,
  ): Promise<void> {
    const { db, clock, random, onDisabled } = this.#options;
    const startedAt = clock.now();
    const isWithheld = isConfidential(delivery.type) && !claimed.isAdministrator;
    let outcome: Outcome | undefined;
    try {
      outcome = isWithheld ? withheld : await this.#attempt(claimed.webhook, delivery, startedAt, signal);
    } finally {
      disconnected();
    }
    const now = clock.now();
    if (!outcome) return giveBack(db, delivery, now);
    const kind = isWithheld ? 'withheld' : delivery.event_id === null ? 'test' : 'event';
    const reason = await finish(db, delivery, { startedAt, outcome, random: random(), kind }, now);
    if (reason !== undefined) {
      onDisabled(delivery.webhook_id, reason, traceOfEvent(delivery.payload)?.traceId);
    }
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
    const outcome = await attempt(endpoints, target, message, { timeout, signal });
    if (span) endAttemptSpan(span, outcome);
    return outcome;
  }
}

/** Ends attempts at once. Whether the endpoint took them is unknown, so their deliveries are due again. */
export function breakOff(attempts: readonly Sending[]): void {
  for (const { abort } of attempts) abort.abort();
}

function secretsOf(
  { secret, previous_secret, previous_secret_expires_at: expiresAt }: WebhookRow,
  now: number,
): string[] {
  return previous_secret !== null && expiresAt! > now ? [secret, previous_secret] : [secret];
}

/** The outcome for an event that was planned while the owner of the webhook was an administrator. */
const withheld: Outcome = {
  status: null,
  retryAfter: undefined,
  error:
    'Not sent: the event is for administrators, and the key that created the webhook no longer has the scope `admin`',
  responseStart: null,
  duration: 0,
};
