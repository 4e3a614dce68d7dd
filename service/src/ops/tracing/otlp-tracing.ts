import { AsyncLocalStorage } from 'node:async_hooks';
import { createTraceState, ROOT_CONTEXT, SpanKind, type Tracer, trace } from '@opentelemetry/api';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  type Sampler as LibrarySampler,
  ParentBasedSampler,
  RandomIdGenerator,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { MINUTE, SECOND, systemClock } from '../../kit/clock.ts';
import { LogPace, tickPaces } from '../../kit/log-pace.ts';
import type { Sampler, TraceSettings } from '../../kit/trace-settings.ts';
import type { Span, SpanOptions, Tracing } from '../../kit/tracing.ts';
import { BoundedProcessor } from './bounded-processor.ts';
import { Exporter } from './exporter.ts';
import { beginSpan, UnrecordedSpan } from './spans.ts';

/** How long the export of the last spans may take at shutdown, in milliseconds. */
const TIMEOUT = 2 * SECOND;

/** The shortest interval between two reports of lost spans, in milliseconds. */
const REPORT_INTERVAL = MINUTE;

/** Longer texts in attributes are truncated, in characters. */
const LONGEST_TEXT = 2_048;

export interface TracingOptions {
  settings: TraceSettings;
  /** Receives the number of spans lost since the last call and the last reason, at most once a minute, and at the end. */
  onLoss: (spans: number, reason: string) => void;
}

/** Records spans and exports them by OTLP/HTTP. */
export class OtlpTracing implements Tracing {
  readonly #sampler: LibrarySampler;
  readonly #ids = new RandomIdGenerator();
  /** The ID of a new trace that was sampled, for the span that begins it. */
  #traceId = '';
  readonly #tracer: Tracer;
  readonly #provider: TracerProvider;
  readonly #exporter: Exporter;
  readonly #processor: BoundedProcessor;
  readonly #active = new AsyncLocalStorage<Span>();
  readonly #onLoss: TracingOptions['onLoss'];
  #dropped = 0;
  #reported = 0;
  #reason = '';
  readonly #losses = new LogPace(systemClock, () => this.#reportLosses(), REPORT_INTERVAL);
  readonly #endLosses = tickPaces(this.#losses);

  constructor({ settings, onLoss }: TracingOptions) {
    this.#onLoss = onLoss;
    const { size, batch, delay } = settings.queue;
    this.#exporter = new Exporter(settings, (spans, reason) => this.#lose(spans, reason));
    this.#processor = new BoundedProcessor(
      exporter =>
        new BatchSpanProcessor({
          exporter,
          maxQueueSize: size,
          maxExportBatchSize: batch,
          scheduledDelayMillis: delay,
          // The exporter has its own deadline, which is earlier.
          exportTimeoutMillis: settings.timeout + SECOND,
        }),
      {
        exporter: this.#exporter,
        most: size,
        onDrop: () => this.#lose(1, 'More spans than can be exported'),
      },
    );
    this.#sampler = samplerOf(settings.sampler);
    this.#provider = new TracerProvider({
      resource: defaultResource().merge(resourceFromAttributes({ ...settings.resource })),
      // Decides in the same way about the spans that `begin` lets pass.
      sampler: this.#sampler,
      idGenerator: {
        generateTraceId: () => this.#traceId,
        generateSpanId: () => this.#ids.generateSpanId(),
      },
      spanProcessors: [this.#processor],
      spanLimits: { attributeValueLengthLimit: LONGEST_TEXT },
    });
    this.#tracer = this.#provider.getTracer('petstore');
  }

  /** The number of recorded spans that never reached the collector. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Decides first whether the span is recorded: most are not, and then nothing is made for the library. */
  begin(name: string, { kind, parent, traceState, attributes }: SpanOptions): Span {
    const context = parent
      ? trace.setSpanContext(ROOT_CONTEXT, {
          traceId: parent.traceId,
          spanId: parent.spanId,
          traceFlags: parent.flags,
          isRemote: true,
          ...(traceState && { traceState: createTraceState(traceState) }),
        })
      : ROOT_CONTEXT;
    const traceId = parent?.traceId ?? this.#ids.generateTraceId();
    const { decision } = this.#sampler.shouldSample(context, traceId, name, SpanKind.SERVER, {}, []);
    if (decision === SamplingDecision.NOT_RECORD)
      return new UnrecordedSpan(traceId, this.#ids.generateSpanId());
    this.#traceId = traceId;
    return beginSpan(this.#tracer, { name, kind, attributes: attributes(), parent: context });
  }

  record<T>(parent: Span, name: string, work: () => T): T {
    const span = parent.child(name, 'internal');
    let outcome: T;
    try {
      outcome = this.#active.run(span, work);
    } catch (error) {
      span.end();
      throw error;
    }
    if (!(outcome instanceof Promise)) {
      span.end();
      return outcome;
    }
    return outcome.finally(() => span.end()) as T;
  }

  active(): Span | undefined {
    return this.#active.getStore();
  }

  /** Records a command to Redis if the caller of `record` waits for it. No request waits for other commands. */
  readonly onRedisCommand = (command: string): ((isResponded: boolean) => void) | undefined => {
    const span = this.active()?.child(command, 'client', {
      'db.system.name': 'redis',
      'db.operation.name': command,
    });
    return span && (isResponded => span.end(isResponded ? undefined : 'unanswered'));
  };

  /** Exports the remaining spans, within `TIMEOUT`. */
  async close(): Promise<void> {
    const timer = setTimeout(() => void this.#exporter.shutdown(), TIMEOUT);
    // Spans that cannot be exported were counted and passed to `onLoss`.
    await this.#provider.shutdown().catch(() => {});
    clearTimeout(timer);
    await this.#exporter.shutdown();
    this.#endLosses();
  }

  #lose(spans: number, reason: string): void {
    this.#dropped += spans;
    this.#reason = reason;
    this.#losses.request();
  }

  #reportLosses(): void {
    this.#onLoss(this.#dropped - this.#reported, this.#reason);
    this.#reported = this.#dropped;
  }
}

function samplerOf({ ratio, isParentBased }: Sampler) {
  const root =
    ratio === 1
      ? new AlwaysOnSampler()
      : ratio === 0
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio);
  return isParentBased ? new ParentBasedSampler({ root }) : root;
}
