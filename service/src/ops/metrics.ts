import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry, register } from 'prom-client';
import type { Verdict } from '../counters/decide.ts';
import { type Database, MAX_UNNUMBERED } from '../db/database.ts';
import { SECOND } from '../kit/clock.ts';
import type { Sweeper } from '../kit/sweeper.ts';
import { degradedReasons, type Problems } from '../problems.ts';
import { ClientRequests } from './client-requests.ts';
import { RequestDurations } from './request-durations.ts';
import { StoreFigure } from './store-figure.ts';

/** The results of attempts to send a delivery of a webhook. */
const webhookOutcomes = ['delivered', 'rejected', 'timeout', 'unreachable', 'withheld'] as const;

/** The deliveries of enabled webhooks that are not finished, and the webhooks whose attempts fail. */
interface WebhookBacklog {
  pending: number;
  /** How long ago the oldest of them was planned, in milliseconds; 0 if there is none. */
  oldestAge: number;
  /** The number of webhooks that fail, and how long the one that has failed longest has delivered nothing, in milliseconds. */
  failing: number;
  longestFailure: number;
}

/** The parts of the service that the gauges read when the metrics are collected. */
interface MetricSources {
  /** The responses that are not sent completely, and those whose connection closed before that. */
  responses: { unfinished: number; aborted: number };
  db: Pick<Database, 'load' | 'unnumberedEvents'>;
  problems: Problems;
  streams: { count: number };
  sweeper: Pick<Sweeper, 'lastSuccess'>;
  /** The number of lines that the log has lost. */
  logLinesLost: () => number;
  /** The deliveries of webhooks that are not finished. */
  webhookBacklog: () => Promise<WebhookBacklog>;
}

/** Figures that are read when the metrics are collected, by the names of their gauges. */
type Figures = Record<string, [help: string, read: () => number | undefined | Promise<number | undefined>]>;

/** A request with a response. Method and duration are null if the request could not be read. */
interface CompletedRequest {
  method: string | null;
  /** The path template; null for a path or method that does not exist. */
  route: string | null;
  status: number;
  durationMs: number | null;
  /** What the program of the client calls itself. */
  client: string | null;
}

// These metrics describe the process, not one service in it. Their observers cannot be stopped, so they start only once.
collectDefaultMetrics();

/** The metrics of the service. The `on…` functions count what happens; gauges are read when the metrics are collected. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #durations = new RequestDurations();
  readonly #decisions = {
    key: { admitted: 0, refused: 0, banned: 0 },
    account: { admitted: 0, refused: 0, banned: 0 },
    visit: { admitted: 0, refused: 0, banned: 0 },
    address: { admitted: 0, refused: 0, banned: 0 },
    origin: { admitted: 0, refused: 0, banned: 0 },
    network: { admitted: 0, refused: 0, banned: 0 },
  };
  readonly #clients = new ClientRequests(this.#registry);
  readonly #unreadable = this.#counter(
    'petstore_http_unreadable_requests_total',
    'Requests that were not HTTP or never arrived completely. They have no route and no duration.',
    ['status'],
  );
  readonly #overdue = this.#counter(
    'petstore_http_overdue_requests_total',
    'Requests that got 503 because the service did not respond in time. The log has their routes.',
  );
  readonly #bans = this.#counter('petstore_bans_total', 'Bans of API keys that started.');
  readonly #excessConnections = this.#counter(
    'petstore_http_excess_connections_total',
    'Connections that were rejected because there were too many, in total or from their address.',
    ['limit'],
  );
  readonly #webhookAttempts = this.#counter(
    'petstore_webhook_attempts_total',
    'Attempts of this replica to send a delivery of a webhook, by outcome.',
    ['outcome'],
  );
  readonly #commits = new Histogram({
    name: 'petstore_commit_batch_size',
    help: 'Write operations that shared one commit.',
    buckets: Array.from({ length: 11 }, (_, power) => 2 ** power),
    registers: [this.#registry],
  });

  constructor() {
    const decisions = this.#decisions;
    new Counter({
      name: 'petstore_rate_limit_decisions_total',
      help: 'Decisions of rate limits, by verdict and by whose limits the request counted against.',
      labelNames: ['verdict', 'counted_by'],
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const [counted_by, verdicts] of Object.entries(decisions)) {
          for (const [verdict, count] of Object.entries(verdicts)) this.inc({ verdict, counted_by }, count);
        }
      },
    });
    // Start at 0: a counter that first appears with 1 shows no increase.
    for (const limit of ['total', 'address'] as const) this.#excessConnections.inc({ limit }, 0);
    for (const outcome of webhookOutcomes) this.#webhookAttempts.inc({ outcome }, 0);
  }

  readonly onResponse = ({ method, route, status, durationMs, client }: CompletedRequest): void => {
    if (method === null || durationMs === null) this.#unreadable.inc({ status });
    else {
      this.#durations.observe(method, route, status, durationMs / SECOND);
      this.#clients.count(client);
    }
  };

  readonly onDecision = (
    verdict: Verdict,
    countedBy: 'key' | 'account' | 'visit' | 'address' | 'origin' | 'network',
  ): void => {
    this.#decisions[countedBy][verdict]++;
  };

  readonly onOverdue = (): void => this.#overdue.inc();

  readonly onBan = (): void => this.#bans.inc();

  readonly onExcessConnection = (limit: 'total' | 'address'): void => this.#excessConnections.inc({ limit });

  readonly onWebhookAttempt = (outcome: (typeof webhookOutcomes)[number]): void =>
    this.#webhookAttempts.inc({ outcome });

  readonly onCommit = (size: number): void => this.#commits.observe(size);

  /** Adds the metrics that read other parts of the service, which are built later. */
  watch({ responses, db, problems, streams, sweeper, webhookBacklog, logLinesLost }: MetricSources): void {
    // First, because the other figures take connections to read the store: a replica without requests would have no idle one.
    if (db.load().connections !== undefined) this.#watchConnections(db);
    // All four figures of webhooks come from one read.
    const backlog = new StoreFigure(webhookBacklog);
    const unnumbered = new StoreFigure(() => db.unnumberedEvents());
    const gauges: Figures = {
      petstore_http_requests_in_flight: [
        'Requests without a complete response yet.',
        () => responses.unfinished,
      ],
      petstore_database_queue: ['Operations that wait for the database.', () => db.load().queued],
      petstore_event_streams_open: ['Open event streams.', () => streams.count],
      petstore_events_unnumbered: [
        `Committed events that have had no number for more than 10 seconds, counted up to ${MAX_UNNUMBERED}. 0 with the embedded store.`,
        () => unnumbered.current(),
      ],
      petstore_webhook_deliveries_pending: [
        'Deliveries of enabled webhooks that are not finished, in the store; 10000 means 10000 or more.',
        async () => (await backlog.current())?.pending,
      ],
      petstore_webhook_oldest_delivery_age_seconds: [
        'How long ago the oldest pending delivery of an enabled webhook was planned; 0 when none is pending.',
        async () => inSeconds((await backlog.current())?.oldestAge),
      ],
      petstore_webhooks_failing: [
        'Enabled webhooks whose latest attempts failed, among the first 1000.',
        async () => (await backlog.current())?.failing,
      ],
      petstore_webhooks_failing_seconds: [
        'How long nothing was delivered to the one that has failed longest; 0 when none fails.',
        async () => inSeconds((await backlog.current())?.longestFailure),
      ],
    };
    for (const [name, [help, read]] of Object.entries(gauges)) this.#gauge(name, help, read);
    new Gauge({
      name: 'petstore_degraded',
      help: '1 for each reason why `/readyz` is degraded, 0 for the others.',
      labelNames: ['reason'],
      registers: [this.#registry],
      async collect() {
        const current = await problems.current().catch(() => undefined);
        // The series are missing while it is not known: the other metrics must not fail with the store.
        if (current === undefined) return this.reset();
        const reasons = current.map(({ reason }) => reason);
        for (const reason of degradedReasons) this.set({ reason }, reasons.includes(reason) ? 1 : 0);
      },
    });
    new Gauge({
      name: 'petstore_sweep_last_success_timestamp_seconds',
      help: 'When each sweep last succeeded, in Unix time; 0 before the first time.',
      labelNames: ['sweep'],
      registers: [this.#registry],
      collect() {
        for (const [sweep, time = 0] of sweeper.lastSuccess) this.set({ sweep }, time / SECOND);
      },
    });
    this.#counterOf(
      'petstore_http_aborted_requests_total',
      'Requests whose connection closed before the response was complete. They have no status and no duration.',
      () => responses.aborted,
    );
    this.#counterOf(
      'petstore_log_lines_lost_total',
      'Log lines that could not be written: the disk was full, or nothing read the pipe.',
      () => logLinesLost(),
    );
  }

  /** Adds the number of lost spans, which `dropped` returns. */
  watchTraces(dropped: () => number): void {
    this.#counterOf(
      'petstore_trace_spans_dropped_total',
      'Recorded spans that did not reach the collector.',
      dropped,
    );
  }

  /** Returns all metrics in the Prometheus text format. */
  async text(): Promise<string> {
    const parts = [await register.metrics(), await this.#registry.metrics(), this.#durations.text()];
    return parts.join('\n');
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  #watchConnections(db: Pick<Database, 'load'>): void {
    this.#gauge(
      'petstore_database_up',
      '1 while PostgreSQL responds, 0 when the last operation could not reach it.',
      () => (db.load().isUp ? 1 : 0),
    );
    this.#gauge(
      'petstore_database_connections_max',
      'The maximum number of connections to PostgreSQL.',
      () => db.load().connections!.most,
    );
    new Gauge({
      name: 'petstore_database_connections',
      help: 'Open connections to PostgreSQL.',
      labelNames: ['state'],
      registers: [this.#registry],
      collect() {
        const { open, idle } = db.load().connections!;
        this.set({ state: 'busy' }, open - idle);
        this.set({ state: 'idle' }, idle);
      },
    });
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[] = []): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  /** Adds a counter of what another part of the service counts. */
  #counterOf(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  /** Adds a gauge whose series is missing while `read` returns nothing. */
  #gauge(name: string, help: string, read: Figures[string][1]): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      async collect() {
        const figure = await read();
        if (figure === undefined) this.remove();
        else this.set(figure);
      },
    });
  }
}

function inSeconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds / SECOND;
}
