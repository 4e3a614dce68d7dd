import { writeSync } from 'node:fs';
import { SECOND } from './clock.ts';
import { asError, codeOf } from './thrown.ts';

/** The destination of lines. */
interface Sink {
  /** Writes as many of the bytes as there is room for, from their start. Returns how many it wrote; throws if none. */
  write(bytes: Uint8Array): number;
}

interface LineBufferOptions {
  sink: Sink;
  /** Returns the line that reports the number of lost lines, and the reason for the last loss. It ends with a newline. */
  report: (lost: number, reason: string) => string;
}

/** Lines that wait to be written. Each chunk ends with a newline. */
interface Chunk {
  bytes: Buffer;
  /** How many of the bytes were written. */
  written: number;
  /** Whether the start of its first line was already written. */
  isRest?: true;
  /** The number of lost lines in a report; `undefined` for other chunks. */
  reports?: number;
}

/** The maximum number of bytes that are gathered before they are written. */
const CAPACITY = 64 * 1024;

/** The maximum number of bytes that wait for a slow reader: 2 s of lines at 5,000 requests per second. */
const MAX_WAITING = 4 * 1024 * 1024;

/** The longest time that a line waits, and the time until a failed write is retried, in milliseconds. */
const MAX_WAIT = SECOND;

/** The time until a write is retried when the sink had no room, in milliseconds. */
const RETRY = 100;

/** How long the end of the process waits for a slow reader, in milliseconds. */
const LAST_WAIT = SECOND;

const NEWLINE = '\n'.charCodeAt(0);

const NO_ROOM = 'The reader of the log does not keep up';

/**
 * Gathers log lines and writes a few hundred at a time: a system call for each would cost more than the line. It buffers
 * bytes, because hundreds of strings that live for some time would slow down garbage collection.
 *
 * When the sink fails, lines are lost, with no other effect. The buffer counts them, and reports them when a write succeeds. It
 * loses only whole lines: it completes a partly written line before it writes others. When the sink has no room (EAGAIN), the
 * buffer retries, and loses lines only when too many wait.
 */
export class LineBuffer {
  readonly #sink: Sink;
  readonly #report: LineBufferOptions['report'];
  #bytes = Buffer.allocUnsafe(CAPACITY);
  #used = 0;
  #chunks: Chunk[] = [];
  /** The number of bytes in the chunks. */
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

  /** The number of lines that were lost since the process started. */
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

  /** Writes the first `length` bytes, which are a line that fits into the buffer. */
  writeBytes(bytes: Buffer, length: number): void {
    if (this.#used + length > CAPACITY) this.flush();
    this.#used += bytes.copy(this.#bytes, this.#used, 0, length);
    this.#wakeLater();
  }

  /** Writes the gathered lines, as far as the sink has room for them. */
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

  /** Writes the gathered lines before the process ends. If the reader is slow, it blocks the process for up to a second. */
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
    if (this.#waiting + bytes.length > MAX_WAITING) {
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

  /** Discards all waiting chunks, except the rest of a partly written line. */
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
      // A copy, so that one line does not retain 64 KiB.
      this.#chunks.push({ bytes: Buffer.from(rest), written: 0, isRest: true });
      this.#waiting = rest.length;
    }
    for (const chunk of [{ ...first, bytes: bytes.subarray(lostFrom) }, ...others]) {
      if (chunk.reports === undefined) this.#lose(linesIn(chunk.bytes), reason);
      // A report is not a line of the service: the next report includes its number.
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
 * Standard output without waiting for its reader: a pipe or socket without room throws EAGAIN. Only a paused terminal (Ctrl-S)
 * blocks the process, as it does with every program.
 */
export function standardOutput(): Sink {
  // Node makes a pipe or socket non-blocking at the first access to the stream. The stream itself would buffer an unbounded
  // number of bytes for a reader that has stopped, and does not return how many it wrote.
  const { fd } = process.stdout;
  return { write: bytes => writeSync(fd, bytes) };
}
