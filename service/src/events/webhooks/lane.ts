import { setTimeout as sleep } from 'node:timers/promises';
import type { Writer } from '../../db/database.ts';
import { type AttemptOptions, attempt } from './attempt.ts';
import { hostOf, type Waiter } from './connections.ts';
import * as rules from './lane-rules.ts';
import type { ReadStandings } from './owners.ts';
import { serve } from './serve.ts';
import type { ActiveWebhook } from './webhook-queries.ts';

/** The shortest pause before a locked webhook is tried again, in milliseconds. */
const SHORTEST_PAUSE = 5;

/** The longest pause, in milliseconds. Each pause is random. */
const LONGEST_PAUSE = 25;

/** The number of times that a locked webhook is tried at shutdown. */
const TRIES_AT_SHUTDOWN = 20;

export interface LaneOptions extends AttemptOptions {
  db: Writer;
  readStandings: ReadStandings;
  /** The source of events. */
  source: string;
  /** Aborted when the process no longer waits for attempts and locks. */
  closing: AbortSignal;
  /** Is called with each transaction and attempt that starts. */
  track: (work: Promise<void>) => void;
  /** `traceId` is the trace of the event whose delivery was the reason. */
  onDisabled: (webhookId: number, disabled: { reason: string; traceId: string | undefined }) => void;
  /** Called once, of all replicas, when a webhook begins to fail and when it works again. */
  onTurn: (webhookId: number, turn: rules.Turn) => void;
  onError: (error: unknown) => void;
}

/** Serves one webhook in this process: executes what `decide` returns. It never waits for another lane or for a lock. */
export class Lane {
  readonly #options: LaneOptions;
  readonly #state: rules.LaneState;
  readonly #waiter: Waiter;
  #abort = new AbortController();

  constructor(webhook: ActiveWebhook, options: LaneOptions) {
    this.#options = options;
    this.#state = rules.newLane(webhook);
    this.#waiter = {
      destination: { host: hostOf(webhook.url), keyId: webhook.api_key_id },
      isReady: () => rules.canSend(this.#state),
      onTaken: () => this.#apply({ type: 'connected' }),
    };
  }

  get webhookId(): number {
    return this.#state.webhook.id;
  }

  get isIdle(): boolean {
    return rules.isIdle(this.#state);
  }

  /** Serves the webhook, which was just read. `latest` is the last event of the log. */
  read(webhook: ActiveWebhook, latest: number, rechecks: boolean): void {
    this.#apply({ type: 'read', webhook, latest, rechecks });
  }

  /** Claims no more deliveries. Running attempts continue, and their outcomes are stored. */
  stop(): void {
    this.#apply({ type: 'stopped' });
  }

  /** Aborts the running attempts. Their deliveries are due again. */
  abort(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
  }

  #apply(input: rules.Input): void {
    const { connections, clock, track } = this.#options;
    const { destination } = this.#waiter;
    const actions = rules.decide(this.#state, input, clock.now(), wanted =>
      connections.take(destination, wanted),
    );
    for (const claimed of actions.send) track(this.#send(claimed));
    if (actions.request) track(this.#serve(actions.request));
    connections.wait(this.#waiter, actions.waits);
    connections.free(destination, actions.unused);
  }

  async #send(claimed: rules.Claimed): Promise<void> {
    const { connections, onError } = this.#options;
    const attempted = await attempt(claimed, this.#abort.signal, this.#options).catch(
      error => void onError(error),
    );
    connections.free(this.#waiter.destination, 1);
    const ended = { delivery: claimed.delivery, attempted };
    this.#apply({ type: 'attempted', ended });
  }

  async #serve(request: rules.Request): Promise<void> {
    const { connections, db, clock, readStandings, source, closing, onDisabled, onTurn, onError } =
      this.#options;
    const { webhook } = this.#state;
    let current = request;
    let served: rules.Served | 'locked' | undefined;
    for (let tries = TRIES_AT_SHUTDOWN; tries > 0; tries -= closing.aborted ? 1 : 0) {
      const options = { readStandings, now: clock.now(), source };
      served = await serve(db, webhook, current, options).catch(error => void onError(error));
      if (served !== 'locked') break;
      // Other lanes can use the connections during the pause.
      connections.free(this.#waiter.destination, current.connections);
      await sleep(SHORTEST_PAUSE + (LONGEST_PAUSE - SHORTEST_PAUSE) * Math.random());
      const taken = connections.take(this.#waiter.destination, request.connections);
      current = { ...request, connections: taken, limit: taken === 0 ? 0 : request.limit };
    }
    if (served === 'locked') served = undefined;
    if (served?.turn) onTurn(webhook.id, served.turn);
    if (served?.disabled) onDisabled(webhook.id, served.disabled);
    this.#apply({ type: 'served', request: current, served });
  }
}
