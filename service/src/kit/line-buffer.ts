import { writeSync } from 'node:fs';
import { SECOND } from './clock.ts';
import { asError, codeOf } from './thrown.ts';

/** Where lines go. */
export interface Sink {
  /** Writes the bytes, or as many of their beginning as there is room for, and returns how many. Throws if it writes none. */
  write(bytes: Uint8Array): number;
}

export interface LineBufferOptions {
  sink: Sink;
  /** Returns the line that says that lines were lost, and the reason for the last of them. It ends with a newline. */
  report: (lost: number, reason: string) => string;
}

/** Lines that wait for the sink. Each chunk ends with a newline. */
interface Chunk {
  bytes: Buffer;
  /** How many of the bytes were written. */
  written: number;
  /** Whether the beginning of its first line was written before. */
  isRest?: true;
  /** Of a report: how many lost lines it reports. */
  reports?: number;
}

/** The most bytes that are gathered before they are written. */
const CAPACITY = 64 * 1024;

/** The most bytes that wait for a reader who does not keep up: 2 s of lines at 5,000 requests per second. */
const MOST_WAITING = 4 * 1024 * 1024;

/** How long a line waits at most, and how long until a failed write is tried again, in milliseconds. */
const MAX_WAIT = SECOND;

/** How long until a write is tried again after the reader left no room, in milliseconds. */
const RETRY = 100;

/** How long the reader has for what waits when the process ends, in milliseconds. */
const LAST_WAIT = SECOND;

const NEWLINE = '\n'.charCodeAt(0);

const NO_ROOM = 'The reader of the log does not keep up';

/**
 * Gathers log lines and writes them some hundred at a time: a system call for each would cost more than the line. They
 * are kept as bytes, because hundreds of strings that live for a while would keep the garbage collector busy.
 *
 * A sink that fails loses lines, and does nothing else: they are counted, and reported as soon as a write succeeds. Lines
 * are lost whole: what was begun is completed before anything else is written. A sink without room (EAGAIN) is
 * tried again, and lines are lost only when too many wait.
 */
export class LineBuffer {
  readonly #sink: Sink;
  readonly #report: LineBufferOptions['report'];
  #bytes = Buffer.allocUnsafe(CAPACITY);
  #used = 0;
  #chunks: Chunk[] = [];
  /** Bytes of the chunks. */
  #waiting = 0;
  #isBlocked = false;
  #lost = 0;
  #unreported = 0;
  #reason = '';
  #timer: NodeJS.Timeout | undefined;

  constructor({ sink, report }: LineBufferOptions) {
    this.#sink = sink;
    this.#report = report;
  }

  /** How many lines were lost since the process started. */
  get lost(): number {
    return this.#lost;
  }

  write(line: string): void {
    // A UTF-16 code unit takes 3 bytes of UTF-8 at most.
    const most = line.length * 3;
    if (this.#used + most > CAPACITY) this.flush();
    if (most > CAPACITY) {
      this.#append(Buffer.from(line));
      this.#writeChunks();
    } else {
      this.#used += this.#bytes.write(line, this.#used);
    }
    this.#wakeLater();
  }

  /** Writes what it has, as far as the sink takes it at once. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#used > 0) {
      const full = this.#bytes.subarray(0, this.#used);
      this.#bytes = Buffer.allocUnsafe(CAPACITY);
      this.#used = 0;
      this.#append(full);
    } else if (this.#chunks.length === 0) this.#appendReport();
    this.#writeChunks();
    this.#wakeLater();
  }

  /** Writes what it has before the process ends. It blocks the process for a second at most if the reader is slow. */
  end(): void {
    const deadline = performance.now() + LAST_WAIT;
    this.flush();
    while (this.#isBlocked && performance.now() < deadline) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      this.flush();
    }
    clearTimeout(this.#timer);
  }

  #append(bytes: Buffer): void {
    if (this.#waiting + bytes.length > MOST_WAITING) {
      this.#lose(linesIn(bytes), NO_ROOM);
      return;
    }
    this.#appendReport();
    this.#chunks.push({ bytes, written: 0 });
    this.#waiting += bytes.length;
  }

  #appendReport(): void {
    if (this.#unreported === 0) return;
    const bytes = Buffer.from(this.#report(this.#unreported, this.#reason));
    this.#chunks.push({ bytes, written: 0, reports: this.#unreported });
    this.#waiting += bytes.length;
    this.#unreported = 0;
  }

  #writeChunks(): void {
    this.#isBlocked = false;
    try {
      for (let chunk = this.#chunks[0]; chunk; chunk = this.#chunks[0]) {
        chunk.written += this.#sink.write(chunk.bytes.subarray(chunk.written));
        if (chunk.written < chunk.bytes.length) continue;
        this.#chunks.shift();
        this.#waiting -= chunk.bytes.length;
      }
    } catch (error) {
      if (codeOf(error) === 'EAGAIN') this.#isBlocked = true;
      else this.#loseChunks(asError(error).message);
    }
  }

  /** Loses all that waits but the rest of a line whose beginning was written. */
  #loseChunks(reason: string): void {
    const [first, ...others] = this.#chunks;
    this.#chunks = [];
    this.#waiting = 0;
    if (!first) return;
    const { bytes, written } = first;
    const isInsideLine = written > 0 ? bytes[written - 1] !== NEWLINE : first.isRest;
    const lostFrom = isInsideLine ? bytes.indexOf(NEWLINE, written) + 1 : written;
    if (isInsideLine) {
      const rest = bytes.subarray(written, lostFrom);
      // A copy, so that 64 KiB are not held for one line.
      this.#chunks.push({ bytes: Buffer.from(rest), written: 0, isRest: true });
      this.#waiting = rest.length;
    }
    for (const chunk of [{ ...first, bytes: bytes.subarray(lostFrom) }, ...others]) {
      if (chunk.reports === undefined) this.#lose(linesIn(chunk.bytes), reason);
      // A report is no line of the service: what it reports is reported by the next one.
      else if (chunk.bytes.length > 0) this.#unreported += chunk.reports;
    }
  }

  #lose(lines: number, reason: string): void {
    this.#lost += lines;
    this.#unreported += lines;
    if (lines > 0) this.#reason = reason;
  }

  #wakeLater(): void {
    if (this.#used === 0 && this.#chunks.length === 0 && this.#unreported === 0) return;
    this.#timer ??= setTimeout(() => this.flush(), this.#isBlocked ? RETRY : MAX_WAIT).unref();
  }
}

function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}

/**
 * Standard output, whose reader is never waited for: a pipe or socket without room throws EAGAIN. Only a terminal that is
 * paused (Ctrl-S) stops the process, as it does with every program.
 */
export function standardOutput(): Sink {
  // Node makes a pipe or socket non-blocking when the stream is first asked for. The stream itself would keep an
  // unbounded number of bytes for a reader that has stopped, and would not say how many it wrote.
  const { fd } = process.stdout;
  return { write: bytes => writeSync(fd, bytes) };
}
