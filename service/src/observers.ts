import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from './config.ts';
import { LineBuffer, standardOutput } from './kit/line-buffer.ts';
import type { LineSink } from './kit/log-line.ts';
import type { TraceSettings } from './kit/trace-settings.ts';
import type { Metrics } from './ops/metrics.ts';
import type { OpsServer } from './ops/ops-server.ts';
import type { OtlpTracing } from './ops/tracing/otlp-tracing.ts';

/** The log, metrics and traces of the service. */
export interface Observers {
  log: Logger;
  /** The destination of the request log, which is that of `log`. */
  requestLines: LineSink;
  lineBuffer: LineBuffer;
  /** `undefined` when no port is set for the metrics. */
  ops: OpsServer | undefined;
  metrics: Metrics | undefined;
  /** `undefined` when no endpoint is set for traces. */
  tracing: OtlpTracing | undefined;
}

/** Opens the log, and metrics and traces if they are configured. `opened` closes them. */
export async function openObservers(
  config: Config,
  logDestination: DestinationStream | undefined,
  opened: AsyncDisposableStack,
): Promise<Observers> {
  const lineBuffer = new LineBuffer({ sink: standardOutput(), report: lossReport });
  const log = pino({ level: config.logLevel, base: null }, logDestination ?? lineBuffer);
  const requestLines = logDestination ? linesFor(logDestination) : lineBuffer;
  opened.defer(() => log.flush());
  const ops = config.opsPort === undefined ? undefined : await opsServer(log);
  opened.defer(() => ops?.close());
  const tracing = config.traces && (await otlpTracing(config.traces, log));
  opened.defer(() => tracing?.close());
  return { log, requestLines, lineBuffer, ops, metrics: ops?.metrics, tracing };
}

function linesFor(destination: DestinationStream): LineSink {
  return { writeBytes: (bytes, length) => destination.write(bytes.toString('latin1', 0, length)) };
}

/** A line in pino's format, of level `warn`. It must not go through the log that has lost lines. */
function lossReport(lost: number, reason: string): string {
  return `${JSON.stringify({ level: 40, time: Date.now(), lost, reason, msg: 'Log lines were lost' })}\n`;
}

/** Loaded only if it is configured: the library would take time at start, and memory. */
async function opsServer(log: Logger): Promise<OpsServer> {
  const { OpsServer } = await import('./ops/ops-server.ts');
  return new OpsServer(error => log.error({ err: error }, 'Metrics could not be collected'));
}

/** Loaded only if it is configured: the libraries take a tenth of a second and 15 MB. */
async function otlpTracing(settings: TraceSettings, log: Logger): Promise<OtlpTracing> {
  const { OtlpTracing } = await import('./ops/tracing/otlp-tracing.ts');
  return new OtlpTracing({
    settings,
    onLoss: (spans, reason) => log.warn({ spans, reason }, 'Spans of traces were lost'),
  });
}
