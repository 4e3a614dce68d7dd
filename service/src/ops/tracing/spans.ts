import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { TraceContext } from '../../kit/trace-context.ts';
import type { Attributes, Span as OurSpan, SpanKind as OurSpanKind } from '../../kit/tracing.ts';

const kinds: Record<OurSpanKind, SpanKind> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
};

/** A span of the library, as the service sees it. */
export class RecordedSpan implements OurSpan {
  readonly context: TraceContext;
  readonly isRecorded: boolean;
  readonly #tracer: Tracer;
  readonly #span: Span;
  /** That its children are begun in. */
  readonly #surroundings: Context;

  constructor(tracer: Tracer, span: Span) {
    const { traceId, spanId, traceFlags } = span.spanContext();
    this.context = { traceId, spanId, flags: traceFlags };
    this.isRecorded = span.isRecording();
    this.#tracer = tracer;
    this.#span = span;
    this.#surroundings = trace.setSpan(ROOT_CONTEXT, span);
  }

  child(name: string, kind: OurSpanKind, attributes: Attributes = {}): OurSpan {
    return begin(this.#tracer, name, kind, attributes, this.#surroundings);
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
    this.#span.end();
  }
}

export function begin(
  tracer: Tracer,
  name: string,
  kind: OurSpanKind,
  attributes: Attributes,
  surroundings: Context,
): OurSpan {
  return new RecordedSpan(tracer, tracer.startSpan(name, { kind: kinds[kind], attributes }, surroundings));
}
