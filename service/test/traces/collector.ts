import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { LocalEndpoint } from '../support/local-endpoint.ts';

type Value = { stringValue?: string; intValue?: number | string; doubleValue?: number; boolValue?: boolean };

interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Value }[];
  status: { code: number };
}

/** A span as the collector received it. */
export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentId: string | undefined;
  traceState: string | undefined;
  name: string;
  kind: 'internal' | 'server' | 'client';
  attributes: Record<string, unknown>;
  isError: boolean;
  /** Nanoseconds since the Unix epoch. */
  start: bigint;
  end: bigint;
}

/** Exports at once, so that tests do not wait. */
export function tracedTo({ url }: Collector): Record<string, string> {
  return { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: '1' };
}

/** A collector of spans over OTLP/HTTP in JSON. It returns 200 until a test sets another handler. */
export class Collector extends LocalEndpoint {
  readonly spans: CollectedSpan[] = [];
  readonly requests: { path: string; headers: IncomingMessage['headers']; text: string }[] = [];
  /** The attributes of the resource in the last export. */
  resource: Record<string, unknown> = {};
  #handler: (response: ServerResponse) => void = response => void response.writeHead(200).end('{}');

  get url(): string {
    return this.origin;
  }

  protected override take(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const { headers } = request;
    const text = (headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString();
    this.requests.push({ path: request.url!, headers, text });
    for (const { resource, scopeSpans } of JSON.parse(text).resourceSpans) {
      this.resource = plain(resource.attributes);
      for (const { spans } of scopeSpans) this.spans.push(...spans.map(collected));
    }
    this.#handler(response);
  }

  handleWith(handler: (response: ServerResponse) => void): void {
    this.#handler = handler;
  }

  async has(requests: number): Promise<void> {
    await this.next(`${requests} requests`, () => (this.requests.length >= requests ? true : undefined));
  }

  span(fits: (span: CollectedSpan) => boolean): Promise<CollectedSpan> {
    return this.next('a matching span', () => this.spans.find(fits));
  }

  childrenOf({ spanId }: CollectedSpan): CollectedSpan[] {
    return this.spans
      .filter(({ parentId }) => parentId === spanId)
      .sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0));
  }
}

function collected(span: OtlpSpan): CollectedSpan {
  assert.match(span.traceId, /^[0-9a-f]{32}$/);
  assert.match(span.spanId, /^[0-9a-f]{16}$/);
  const kind = ({ 1: 'internal', 2: 'server', 3: 'client' } as const)[span.kind];
  assert.ok(kind, `kind ${span.kind}`);
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentId: span.parentSpanId || undefined,
    traceState: span.traceState || undefined,
    name: span.name,
    kind,
    attributes: plain(span.attributes),
    isError: span.status.code === 2,
    start: BigInt(span.startTimeUnixNano),
    end: BigInt(span.endTimeUnixNano),
  };
}

function plain(attributes: readonly { key: string; value: Value }[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, doubleValue, boolValue } }) => [
      key,
      stringValue ?? (intValue === undefined ? (doubleValue ?? boolValue) : Number(intValue)),
    ]),
  );
}
