import type { TraceContext } from './trace-context.ts';

/** The names are those of OpenTelemetry's semantic conventions; `undefined` is left out. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** `server` for a request that was received, `client` for one that is sent, to a store as well. */
export type SpanKind = 'server' | 'client' | 'internal';

/** A piece of work in a trace. */
export interface Span {
  /** What the span's children, and other services, refer to. */
  readonly context: TraceContext;
  /** False for a trace that is not sampled: its spans and their children are recorded nowhere. */
  readonly isRecorded: boolean;
  child(name: string, kind: SpanKind, attributes?: Attributes): Span;
  rename(name: string): void;
  set(attributes: Attributes): void;
  /** Ends the span; with `errorType` (`error.type` of the conventions) as one that failed. */
  end(errorType?: string): void;
}

export interface SpanOptions {
  kind: SpanKind;
  /** `undefined` begins a new trace. */
  parent: TraceContext | undefined;
  /** The header `tracestate` that came with the parent. */
  traceState?: string | undefined;
  attributes: Attributes;
}

/** Records spans. There is none while nothing is exported: then tracing takes neither time nor memory. */
export interface Tracing {
  begin(name: string, options: SpanOptions): Span;
  /** Records `work` as a child of `parent`, which ends when the work does; `active` finds the child meanwhile. */
  record<T>(parent: Span, name: string, work: () => T): T;
  /** The span of the innermost `record` around the caller. */
  active(): Span | undefined;
}

/** What an error is called in `error.type`: its code where it has one, and never its message. */
export function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
