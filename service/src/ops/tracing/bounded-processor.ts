import type { Context } from '@opentelemetry/api';
import type { ReadableSpan, Span, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';

interface BoundedProcessorOptions {
  exporter: SpanExporter;
  /** The maximum number of spans that wait for export. */
  most: number;
  onDrop: () => void;
}

/** Passes only as many spans as fit into the queue of another processor, which would drop more without a notice. */
export class BoundedProcessor implements SpanProcessor {
  readonly #inner: SpanProcessor;
  readonly #most: number;
  readonly #onDrop: () => void;
  #waiting = 0;

  /** `processorOf` returns the processor that calls an exporter. */
  constructor(
    processorOf: (exporter: SpanExporter) => SpanProcessor,
    { exporter, most, onDrop }: BoundedProcessorOptions,
  ) {
    this.#most = most;
    this.#onDrop = onDrop;
    this.#inner = processorOf({
      export: (spans, onResult) => {
        this.#waiting -= spans.length;
        exporter.export(spans, onResult);
      },
      shutdown: () => exporter.shutdown(),
    });
  }

  onStart(span: Span, context: Context): void {
    this.#inner.onStart(span, context);
  }

  onEnd(span: ReadableSpan): void {
    if (this.#waiting >= this.#most) {
      this.#onDrop();
      return;
    }
    this.#waiting++;
    this.#inner.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#inner.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#inner.shutdown();
  }
}
