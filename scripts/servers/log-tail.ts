import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';

/** Reads complete lines of a file to which another process appends. */
export class LogTail {
  readonly #file: number;
  readonly #decoder = new StringDecoder('utf8');
  readonly #buffer = Buffer.allocUnsafe(64 * 1024);
  #rest = '';

  constructor(path: string) {
    this.#file = openSync(path, 'r');
  }

  /** Returns the lines since the last call. */
  read(): string[] {
    let text = this.#rest;
    for (;;) {
      const bytes = readSync(this.#file, this.#buffer);
      if (bytes === 0) break;
      text += this.#decoder.write(this.#buffer.subarray(0, bytes));
    }
    const lines = text.split('\n');
    this.#rest = lines.pop()!;
    return lines;
  }

  close(): void {
    closeSync(this.#file);
  }
}
