/** Characters that a header's value must not have (RFC 9110 §5.5): with a line break it would start another header. */
const INVALID = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * The headers of a response as they are sent. node:http would join the parts of each header by itself and check its constant parts
 * every time: it takes 2 kB for each response.
 */
export class Head {
  #lines = '';

  /** One line for each header, each with a line break at its end. */
  get lines(): string {
    return this.#lines;
  }

  /** Adds a header. Throws TypeError if it has characters that a header cannot have. */
  add(name: string, value: string): void {
    if (INVALID.test(value)) throw new TypeError(`The header ${name} has invalid characters`);
    this.#lines += `${name}: ${value}\r\n`;
  }

  /** Adds lines that consist only of constants, numbers and texts that were checked before. */
  addLines(lines: string): void {
    this.#lines += lines;
  }

  has(name: string): boolean {
    return `\r\n${this.#lines}`.includes(`\r\n${name}: `);
  }

  /** A copy, to which others do not add. */
  copy(): Head {
    const copy = new Head();
    copy.#lines = this.#lines;
    return copy;
  }
}
