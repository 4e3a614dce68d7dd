import type { Agent, IncomingMessage } from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { SECOND } from '../../kit/clock.ts';
import { http } from '../../kit/node-http.ts';
import type { TraceSettings } from '../../kit/trace-settings.ts';

/** The pause before the first retry, in milliseconds; each later pause is twice as long. */
const FIRST_PAUSE = SECOND;

/** The statuses with which a collector requests a retry (OTLP 1.x, "Failures"). */
const RETRYABLE = [429, 502, 503, 504];

type Settings = Pick<TraceSettings, 'url' | 'headers' | 'timeout'>;

/** Resolves after some milliseconds; rejects when the signal is aborted. */
type Sleep = (
  milliseconds: number,
  value: undefined,
  options: { signal: AbortSignal; ref: false },
) => Promise<void>;

/**
 * Posts spans as OTLP in JSON. The exporter of the library cannot be aborted while it waits for a retry, and would delay the
 * end of the process for as long as an export may take.
 */
export class Exporter implements SpanExporter {
  readonly #settings: Settings;
  readonly #agent: Agent;
  readonly #end = new AbortController();
  readonly #onFailure: (spans: number, reason: string) => void;
  readonly #sleep: Sleep;

  /** `onFailure` receives the number of lost spans and the reason. */
  constructor(
    settings: Settings,
    onFailure: (spans: number, reason: string) => void,
    pauseFor: Sleep = sleep,
  ) {
    this.#settings = settings;
    this.#onFailure = onFailure;
    this.#sleep = pauseFor;
    const options = { keepAlive: true, maxSockets: 4 };
    this.#agent = settings.url.startsWith('https:') ? new https.Agent(options) : new http.Agent(options);
  }

  export(spans: ReadableSpan[], onResult: (result: ExportResult) => void): void {
    const deadline = AbortSignal.any([AbortSignal.timeout(this.#settings.timeout), this.#end.signal]);
    const body = JsonTraceSerializer.serializeRequest(spans)!;
    this.#send(body, deadline).then(
      () => onResult({ code: ExportResultCode.SUCCESS }),
      error => {
        this.#onFailure(spans.length, reasonOf(error, deadline));
        onResult({ code: ExportResultCode.FAILED });
      },
    );
  }

  /** Aborts exports that are under way. */
  async shutdown(): Promise<void> {
    this.#end.abort(new Error('The service was shut down before the collector responded'));
    this.#agent.destroy();
  }

  /** Sends spans, and retries failures that may succeed later, until `deadline`. */
  async #send(body: Uint8Array, deadline: AbortSignal): Promise<void> {
    for (let pause = FIRST_PAUSE; ; pause *= 2) {
      const failure = await this.#post(body, deadline);
      if (!failure) return;
      if (!failure.isRetryable) throw failure.error;
      await this.#sleep(pause, undefined, { signal: deadline, ref: false }).catch(() => {
        throw failure.error;
      });
    }
  }

  async #post(body: Uint8Array, signal: AbortSignal): Promise<Failure | undefined> {
    const { url, headers } = this.#settings;
    const send = url.startsWith('https:') ? https.request : http.request;
    const { promise, resolve } = Promise.withResolvers<Failure | undefined>();
    const request = send(url, {
      method: 'POST',
      agent: this.#agent,
      signal,
      headers: { ...headers, 'content-type': 'application/json', 'content-length': body.byteLength },
    });
    request.on('error', error => resolve({ error, isRetryable: !signal.aborted }));
    request.on('response', (response: IncomingMessage) => {
      const { statusCode: status = 0 } = response;
      // The body is ignored, but the connection is free again only after it was read.
      response.resume().on('error', error => resolve({ error, isRetryable: !signal.aborted }));
      response.on('end', () => {
        if (status < 300) resolve(undefined);
        else resolve({ error: new Error(`Status ${status}`), isRetryable: RETRYABLE.includes(status) });
      });
    });
    request.end(body);
    return promise;
  }
}

interface Failure {
  error: Error;
  isRetryable: boolean;
}

function reasonOf(error: Error, deadline: AbortSignal): string {
  if (error.name !== 'AbortError') return error.message || error.name;
  const { reason } = deadline;
  return reason.name === 'TimeoutError' ? 'The collector did not respond in time' : reason.message;
}
