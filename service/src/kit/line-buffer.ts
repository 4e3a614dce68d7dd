import { SECOND } from './clock.ts';

/** What lines are written to in the end: a stream whose writes to files and pipes are synchronous, as stdout's are. */
interface Sink {
  write(text: string): unknown;
}

/** The most characters that wait to be written. */
const MAX_WAITING = 64 * 1024;

/** How long a line waits at most, in milliseconds. */
const MAX_WAIT = SECOND;

/** Gathers log lines and writes them some hundred at a time: a system call for each would cost more than the line. */
export class LineBuffer {
  readonly #sink: Sink;
  #waiting = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  write(line: string): void {
    this.#waiting += line;
    if (this.#waiting.length >= MAX_WAITING) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), MAX_WAIT).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#waiting;
    this.#waiting = '';
    if (text !== '') this.#sink.write(text);
  }
}
