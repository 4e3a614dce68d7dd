import type { TraceContext } from './trace-context.ts';

/** Attributes with names of OpenTelemetry's semantic conventions; `undefined` ones are omitted. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** `server` for a received request, `client` for a sent one, including commands to a store. */
export type SpanKind = 'server' | 'client' | 'internal';

/** A piece of work in a trace. */
export interface Span {
  /** The reference to this span for its children and for other services. */
  readonly context: TraceContext;
  /** False for a trace that is not sampled: its spans are not exported. */
  readonly isRecorded: boolean;
  child(name: string, kind: SpanKind, attributes?: Attributes): Span;
  rename(name: string): void;
  set(attributes: Attributes): void;
  /** Ends the span; as failed if there is an `errorType` (`error.type` of the conventions). */
  end(errorType?: string): void;
}

export interface SpanOptions {
  kind: SpanKind;
  /** `undefined` starts a new trace. */
  parent: TraceContext | undefined;
  /** The header `tracestate` of the parent. */
  traceState?: string | undefined;
  /** Called only if the span is recorded. */
  attributes: () => Attributes;
}

/** Records spans. While nothing is exported there is no instance, so that tracing takes neither time nor memory. */
export interface Tracing {
  begin(name: string, options: SpanOptions): Span;
  /** Records `work` as a child of `parent`, which ends with the work. During the work, `active` returns the child. */
  record<T>(parent: Span, name: string, work: () => T): T;
  /** The span of the innermost `record` around the caller. */
  active(): Span | undefined;
}

/** The value of `error.type` for an error: its code or its class, never its message. */
export function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
