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
 * The time within a trace, in milliseconds since the Unix epoch with fractions. The system clock is read only once, because it
 * has whole milliseconds and can be changed: with it alone children could end after their parents.
 */
class TraceClock {
  readonly #offset = Date.now() - performance.now();

  now(): number {
    return this.#offset + performance.now();
  }
}

/** Adapts a span of the library to the service's interface. */
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

/** A span that is not exported. Its context is passed on, so that the trace continues unsampled elsewhere. */
export class UnrecordedSpan implements Span {
  readonly context: TraceContext;
  readonly isRecorded = false;

  constructor(traceId: string, spanId: string) {
    this.context = { traceId, spanId, flags: 0 };
  }

  child(): Span {
    return this;
  }

  rename(): void {}

  set(): void {}

  end(): void {}
}

interface SpanStart {
  name: string;
  kind: Kind;
  attributes: Attributes;
  /** The parent as a context of the library; `ROOT_CONTEXT` if there is none. */
  parent: Context;
}

/** Starts the first span of this process in a trace. */
export function beginSpan(tracer: Tracer, spanStart: SpanStart): Span {
  return start(tracer, spanStart, new TraceClock());
}

function start(tracer: Tracer, { name, kind, attributes, parent }: SpanStart, clock: TraceClock): Span {
  const options = { kind: kinds[kind], attributes, startTime: clock.now() };
  return new RecordedSpan(tracer, tracer.startSpan(name, options, parent), clock);
}
