/** The number of bytes at the start. A longer line makes room for itself. */
const CAPACITY = 4096;

const ZERO = '0'.charCodeAt(0);
const POINT = '.'.charCodeAt(0);
const QUOTE = '"'.charCodeAt(0);
const REPLACEMENT = '?'.charCodeAt(0);

/** What receives the lines. It must copy the bytes, of which the first `length` are the line: the next line replaces them. */
export interface LineSink {
  writeBytes(bytes: Buffer, length: number): void;
}

/** The first number with more digits than a 32-bit integer always has. */
const TEN_DIGITS = 1e9;

/**
 * Builds a line of the log byte by byte in memory that it keeps. The parts of a line as texts would be a tenth of what a read request
 * allocates. Each method takes the text before the value. Texts are ASCII; another character becomes `?`.
 */
export class LogLine {
  #bytes = Buffer.alloc(CAPACITY);
  #length = 0;

  text(text: string): this {
    let at = this.#length;
    const end = at + text.length;
    if (end > this.#bytes.length) this.#grow(end);
    const bytes = this.#bytes;
    for (let i = 0; at < end; i++, at++) {
      const code = text.charCodeAt(i);
      bytes[at] = code < 0x80 ? code : REPLACEMENT;
    }
    this.#length = end;
    return this;
  }

  /** A text without characters that JSON escapes. */
  quoted(before: string, text: string | null): this {
    this.text(before);
    if (text === null) return this.text('null');
    return this.#byte(QUOTE).text(text).#byte(QUOTE);
  }

  /** An integer that is not negative. */
  integer(before: string, value: number | null): this {
    this.text(before);
    if (value === null) return this.text('null');
    if (value < TEN_DIGITS) return this.#digits(value, digitsOf(value));
    const high = Math.floor(value / TEN_DIGITS);
    return this.integer('', high).#digits(value - high * TEN_DIGITS, 9);
  }

  /** A number that is not negative, with at most three decimal places. */
  decimal(before: string, value: number | null): this {
    if (value === null) return this.integer(before, null);
    const thousandths = Math.round(value * 1_000);
    const whole = Math.floor(thousandths / 1_000);
    this.integer(before, whole);
    let [rest, places] = [thousandths - whole * 1_000, 3];
    if (rest === 0) return this;
    for (; rest % 10 === 0; places--) rest /= 10;
    return this.#byte(POINT).#digits(rest, places);
  }

  /** Writes the line to `sink`, and starts the next one. */
  end(sink: LineSink): void {
    const length = this.#length;
    this.#length = 0;
    sink.writeBytes(this.#bytes, length);
  }

  #byte(code: number): this {
    if (this.#length === this.#bytes.length) this.#grow(this.#length + 1);
    this.#bytes[this.#length++] = code;
    return this;
  }

  /** Writes the last `count` digits of an integer of at most 32 bits. */
  #digits(value: number, count: number): this {
    const end = this.#length + count;
    if (end > this.#bytes.length) this.#grow(end);
    let rest = value | 0;
    for (let at = end - 1; at >= this.#length; at--) {
      const tenth = (rest / 10) | 0;
      this.#bytes[at] = ZERO + rest - tenth * 10;
      rest = tenth;
    }
    this.#length = end;
    return this;
  }

  #grow(needed: number): void {
    const larger = Buffer.alloc(needed * 2);
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

/** The number of digits of an integer below 10⁹. */
function digitsOf(value: number): number {
  let count = 1;
  for (let next = 10; value >= next; next *= 10) count++;
  return count;
}
