import { AsyncLocalStorage } from 'node:async_hooks';
import { createTraceState, ROOT_CONTEXT, type Tracer, trace } from '@opentelemetry/api';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { MINUTE, SECOND } from '../../kit/clock.ts';
import type { Sampler, TraceSettings } from '../../kit/trace-settings.ts';
import type { Span, SpanOptions, Tracing } from '../../kit/tracing.ts';
import { BoundedProcessor } from './bounded-processor.ts';
import { Exporter } from './exporter.ts';
import { beginSpan } from './spans.ts';

/** How long the last spans may take at the end, in milliseconds. */
const TIMEOUT = 2 * SECOND;

/** How often the log says at most that spans are lost, in milliseconds. */
const COMPLAINT_INTERVAL = MINUTE;

/** Longer texts in attributes are cut off there, in characters. */
const LONGEST_TEXT = 2_048;

export interface TracingOptions {
  settings: TraceSettings;
  /** Receives why spans were lost, and how many since the last time; once a minute at most. */
  onLoss: (spans: number, reason: string) => void;
}

/** Records spans and exports them by OTLP/HTTP. */
export class OtlpTracing implements Tracing {
  readonly #tracer: Tracer;
  readonly #provider: TracerProvider;
  readonly #exporter: Exporter;
  readonly #processor: BoundedProcessor;
  readonly #active = new AsyncLocalStorage<Span>();
  readonly #onLoss: TracingOptions['onLoss'];
  #dropped = 0;
  #toldOf = 0;
  #toldAt = Number.NEGATIVE_INFINITY;

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
          // The exporter ends in time by itself.
          exportTimeoutMillis: settings.timeout + SECOND,
        }),
      {
        exporter: this.#exporter,
        most: size,
        onDrop: () => this.#lose(1, 'More spans than can be exported'),
      },
    );
    this.#provider = new TracerProvider({
      resource: defaultResource().merge(resourceFromAttributes({ ...settings.resource })),
      sampler: samplerOf(settings.sampler),
      spanProcessors: [this.#processor],
      spanLimits: { attributeValueLengthLimit: LONGEST_TEXT },
    });
    this.#tracer = this.#provider.getTracer('petstore');
  }

  /** Spans that were recorded and never reached the collector. */
  get dropped(): number {
    return this.#dropped;
  }

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
    return beginSpan(this.#tracer, { name, kind, attributes, parent: context });
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

  /** Records a command to Redis that the caller of `record` waits for; others, which no request waits for, are not recorded. */
  readonly onRedisCommand = (command: string): ((isResponded: boolean) => void) | undefined => {
    const span = this.active()?.child(command, 'client', {
      'db.system.name': 'redis',
      'db.operation.name': command,
    });
    return span && (isResponded => span.end(isResponded ? undefined : 'unanswered'));
  };

  /** Exports what is left, for a bounded time. */
  async close(): Promise<void> {
    const timer = setTimeout(() => void this.#exporter.shutdown(), TIMEOUT);
    // What cannot be exported was counted, and told of by `onLoss`.
    await this.#provider.shutdown().catch(() => {});
    clearTimeout(timer);
    await this.#exporter.shutdown();
  }

  #lose(spans: number, reason: string): void {
    this.#dropped += spans;
    const now = performance.now();
    if (now - this.#toldAt < COMPLAINT_INTERVAL) return;
    this.#toldAt = now;
    this.#onLoss(this.#dropped - this.#toldOf, reason);
    this.#toldOf = this.#dropped;
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
