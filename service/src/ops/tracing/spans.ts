import {
  type Context,
  type Span as LibrarySpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { TraceContext } from '../../kit/trace-context.ts';
import type { Attributes, SpanKind as Kind, Span } from '../../kit/tracing.ts';

const kinds: Record<Kind, SpanKind> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
};

/**
 * The time within a trace, in milliseconds since the Unix epoch with fractions. It is read once from the clock of the machine,
 * which has whole milliseconds and can be set: by itself it would let children end after their parents.
 */
class TraceClock {
  readonly #ahead = Date.now() - performance.now();

  now(): number {
    return this.#ahead + performance.now();
  }
}

/** A span of the library, as the service sees it. */
class RecordedSpan implements Span {
  readonly context: TraceContext;
  readonly isRecorded: boolean;
  readonly #tracer: Tracer;
  readonly #span: LibrarySpan;
  readonly #clock: TraceClock;

  constructor(tracer: Tracer, span: LibrarySpan, clock: TraceClock) {
    const { traceId, spanId, traceFlags } = span.spanContext();
    this.context = { traceId, spanId, flags: traceFlags };
    this.isRecorded = span.isRecording();
    this.#tracer = tracer;
    this.#span = span;
    this.#clock = clock;
  }

  child(name: string, kind: Kind, attributes: Attributes = {}): Span {
    const parent = trace.setSpan(ROOT_CONTEXT, this.#span);
    return start(this.#tracer, { name, kind, attributes, parent }, this.#clock);
  }

  rename(name: string): void {
    this.#span.updateName(name);
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  end(errorType?: string): void {
    if (errorType !== undefined) {
      this.#span.setAttribute('error.type', errorType);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end(this.#clock.now());
  }
}

export interface Beginning {
  name: string;
  kind: Kind;
  attributes: Attributes;
  /** In the form of the library; `ROOT_CONTEXT` when there is none. */
  parent: Context;
}

/** Begins the first span of this process in a trace. */
export function beginSpan(tracer: Tracer, beginning: Beginning): Span {
  return start(tracer, beginning, new TraceClock());
}

function start(tracer: Tracer, { name, kind, attributes, parent }: Beginning, clock: TraceClock): Span {
  const options = { kind: kinds[kind], attributes, startTime: clock.now() };
  return new RecordedSpan(tracer, tracer.startSpan(name, options, parent), clock);
}
