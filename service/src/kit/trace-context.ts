/** The position of an operation in a distributed trace (W3C Trace Context). */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits. */
  readonly spanId: string;
  readonly flags: number;
}

/** The flags that the standard defines: sampled, and since level 2 random trace ID. All others are sent as zero. */
const KNOWN_FLAGS = 0x03;

const TRACEPARENT = /^([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-|$)/;

/** The length of version 00. Later versions may continue with `-`. */
const LENGTH = 55;

/**
 * Parses the header `traceparent` (W3C Trace Context level 2, section 3.2). Returns `undefined` for an invalid or repeated
 * header, which must be ignored.
 */
export function parseTraceparent(header: string | string[] | undefined): TraceContext | undefined {
  if (typeof header !== 'string') return undefined;
  const match = TRACEPARENT.exec(header);
  if (!match) return undefined;
  const [, version, traceId = '', spanId = '', flags = ''] = match;
  if (version === 'ff' || (version === '00' && header.length !== LENGTH)) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & KNOWN_FLAGS };
}

/** Formats the header `traceparent` for work in the trace, in version 00. */
export function formatTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
}
