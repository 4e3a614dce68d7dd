import { MAX_ROW } from './csv.ts';

/** How bytes are text. Excel in Western Europe writes CSV as windows-1252, and “Unicode text” as utf-16le. */
export const encodings = ['utf-8', 'windows-1252', 'utf-16le', 'utf-16be'] as const;

export type Encoding = (typeof encodings)[number];

/** The bytes of U+FEFF at the start of a file. */
const byteOrderMarks = {
  'utf-8': [0xef, 0xbb, 0xbf],
  'utf-16le': [0xff, 0xfe],
  'utf-16be': [0xfe, 0xff],
} as const satisfies Partial<Record<Encoding, readonly number[]>>;

/** Returns the encoding that the byte order mark of a file states (https://encoding.spec.whatwg.org/#bom-sniff). */
export function encodingOf(start: Uint8Array): Encoding | undefined {
  const entries = Object.entries(byteOrderMarks) as [Encoding, readonly number[]][];
  return entries.find(([, mark]) => mark.every((byte, i) => start[i] === byte))?.[0];
}

/** The bytes of a file are not UTF-8. */
export class EncodingError extends Error {
  /** From 1. */
  readonly line: number;

  constructor(line: number) {
    super(`line ${line} has bytes that are not UTF-8`);
    this.line = line;
  }
}

const NEWLINE = 10;

/** Reads the parts of a file as text. Throws an `EncodingError` for bytes that are not UTF-8, instead of replacing them. */
export class TextReader {
  readonly #encoding: Encoding;
  readonly #decoder: InstanceType<typeof TextDecoder>;
  /** UTF-8 only: the start of a line whose end was not read yet. */
  #rest = new Uint8Array();
  #lines = 0;

  constructor(encoding: Encoding) {
    this.#encoding = encoding;
    // The parser removes the byte order mark of a file.
    this.#decoder = new TextDecoder(encoding, { fatal: encoding === 'utf-8', ignoreBOM: true });
  }

  read(bytes: Uint8Array): string {
    if (this.#encoding === 'windows-1252') return withHighCharacters(this.#decoder.decode(bytes));
    if (this.#encoding !== 'utf-8') return this.#decoder.decode(bytes, { stream: true });
    const all = joined(this.#rest, bytes);
    let end = all.lastIndexOf(NEWLINE) + 1;
    // A long line is not kept, but it is not divided within a character.
    if (all.length - end > MAX_ROW) end = startOfLastCharacter(all);
    this.#rest = all.slice(end);
    return this.#decode(all.subarray(0, end));
  }

  /** Returns the text after the last line break. */
  end(): string {
    return this.#encoding === 'utf-8' ? this.#decode(this.#rest) : this.#decoder.decode();
  }

  /** Decodes complete lines of UTF-8. */
  #decode(bytes: Uint8Array): string {
    try {
      const text = this.#decoder.decode(bytes);
      for (const byte of bytes) if (byte === NEWLINE) this.#lines++;
      return text;
    } catch {
      for (let from = 0; ; this.#lines++) {
        const end = bytes.indexOf(NEWLINE, from) + 1 || bytes.length;
        if (!this.#isText(bytes.subarray(from, end))) throw new EncodingError(this.#lines + 1);
        from = end;
      }
    }
  }

  #isText(bytes: Uint8Array): boolean {
    try {
      this.#decoder.decode(bytes);
      return true;
    } catch {
      return false;
    }
  }
}

function startOfLastCharacter(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > 0 && (bytes[start]! & 0xc0) === 0x80) start--;
  return start;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** The characters of windows-1252 from 0x80 to 0x9f (https://encoding.spec.whatwg.org/index-windows-1252.txt). */
const HIGH = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/** Node.js 20 decodes windows-1252 as ISO 8859-1, which has control characters there. */
function withHighCharacters(text: string): string {
  return text.replace(/[\u0080-\u009f]/g, character => HIGH[character.charCodeAt(0) - 0x80]!);
}
