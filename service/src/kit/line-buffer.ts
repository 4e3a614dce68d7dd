import { SECOND } from './clock.ts';

/** What lines are written to in the end: a stream whose writes to files and pipes are synchronous, as stdout's are. */
interface Sink {
  write(bytes: Uint8Array): unknown;
}

/** The most bytes that wait to be written. */
const CAPACITY = 64 * 1024;

/** How long a line waits at most, in milliseconds. */
const MAX_WAIT = SECOND;

/**
 * Gathers log lines and writes them some hundred at a time: a system call for each would cost more than the line. They
 * are kept as bytes, because hundreds of strings that live for a while would keep the garbage collector busy.
 */
export class LineBuffer {
  readonly #sink: Sink;
  #bytes = Buffer.allocUnsafe(CAPACITY);
  #used = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  write(line: string): void {
    // A UTF-16 code unit takes 3 bytes of UTF-8 at most.
    const most = line.length * 3;
    if (this.#used + most > CAPACITY) this.flush();
    if (most > CAPACITY) {
      this.#sink.write(Buffer.from(line));
      return;
    }
    this.#used += this.#bytes.write(line, this.#used);
    this.#timer ??= setTimeout(() => this.flush(), MAX_WAIT).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#used === 0) return;
    const full = this.#bytes.subarray(0, this.#used);
    // The sink may hold on to what it was given.
    this.#bytes = Buffer.allocUnsafe(CAPACITY);
    this.#used = 0;
    this.#sink.write(full);
  }
}
