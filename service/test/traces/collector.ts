import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { http } from '../../src/kit/node-http.ts';
import { disconnect } from '../events/receiver.ts';
import { inTime } from '../support/until.ts';

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
export class Collector {
  readonly spans: CollectedSpan[] = [];
  readonly requests: { path: string; headers: IncomingMessage['headers']; text: string }[] = [];
  /** The attributes of the resource in the last export. */
  resource: Record<string, unknown> = {};
  readonly #server: Server;
  #handler: (response: ServerResponse) => void = response => void response.writeHead(200).end('{}');
  #news = Promise.withResolvers<void>();

  private constructor() {
    this.#server = http.createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const bytes = Buffer.concat(chunks);
      const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
      this.requests.push({ path: request.url!, headers: request.headers, text });
      this.#take(JSON.parse(text));
      this.#handler(response);
      this.#news.resolve();
      this.#news = Promise.withResolvers();
    });
  }

  static async start(): Promise<Collector> {
    const collector = new Collector();
    collector.#server.listen(0, '127.0.0.1');
    await once(collector.#server, 'listening');
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  handleWith(handler: (response: ServerResponse) => void): void {
    this.#handler = handler;
  }

  /** Resolves after this many requests. */
  has(requests: number): Promise<void> {
    return inTime(`${requests} requests`, this.#has(requests));
  }

  async #has(requests: number): Promise<void> {
    while (this.requests.length < requests) await this.#news.promise;
  }

  /** Resolves with the first matching span. */
  span(fits: (span: CollectedSpan) => boolean): Promise<CollectedSpan> {
    return inTime('a matching span', this.#span(fits));
  }

  async #span(fits: (span: CollectedSpan) => boolean): Promise<CollectedSpan> {
    for (;;) {
      const span = this.spans.find(fits);
      if (span) return span;
      await this.#news.promise;
    }
  }

  childrenOf({ spanId }: CollectedSpan): CollectedSpan[] {
    return this.spans
      .filter(({ parentId }) => parentId === spanId)
      .sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0));
  }

  disconnect(): Promise<void> {
    return disconnect(this.#server);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
    // Node.js releases a closed server some turns of the event loop later.
    await sleep(1);
  }

  // biome-ignore lint/suspicious/noExplicitAny: OTLP in JSON
  #take({ resourceSpans }: any): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resource = plain(resource.attributes);
      for (const { spans } of scopeSpans) this.spans.push(...spans.map(collected));
    }
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
