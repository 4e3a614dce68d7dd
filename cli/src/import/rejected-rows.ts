import { closeSync, existsSync, fstatSync, fsyncSync, ftruncateSync, openSync, writeFileSync } from 'node:fs';
import {
  addedColumns,
  escapeFormula,
  isAddedColumn,
  replacedColumns,
  withoutEmptyEnd,
} from '@petstore/pet-files';
import { stringify } from 'csv-stringify/sync';
import { ImportError } from '../failure.ts';
import type { Row } from './rows.ts';
import type { Source } from './source.ts';

/** Without it, spreadsheet programs and `--encoding` read a file in another encoding than UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF';

/** Writes the rows that were not imported to a file of the same format, so that they can be corrected and imported. */
export class RejectedRows {
  readonly path: string;
  readonly #source: Source;
  #file: number | undefined;
  #bytes: number;

  /** `bytes` is the size of the file when the import was last stored; 0 for an import that starts. */
  constructor(source: Source, bytes: number) {
    this.path = source.file.replace(/(\.\w+)?$/, `.rejected.${source.format}`);
    this.#source = source;
    this.#bytes = bytes;
    if (bytes > 0) this.#open();
    else if (existsSync(this.path) && !existsSync(`${source.file}.journal`))
      throw new ImportError(
        `${this.path} exists: move or delete it, because the import writes its rejected rows there`,
      );
  }

  add(rejected: readonly { row: Row; code: string; message: string }[]): void {
    if (rejected.length === 0) return;
    const rows = rejected.map(({ row, code, message }) => this.#format(row, code, message)).join('');
    const text = this.#bytes === 0 ? this.#start() + rows : rows;
    this.#file ??= this.#open();
    writeFileSync(this.#file, text);
    this.#bytes += Buffer.byteLength(text);
  }

  /** Returns the size of the file, after everything is on the disk. */
  sync(): number {
    if (this.#file !== undefined) fsyncSync(this.#file);
    return this.#bytes;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }

  /** What was written after the journal is written again. */
  #open(): number {
    const isNew = this.#bytes === 0;
    if (!isNew && !existsSync(this.path)) this.#rejectChanged();
    const file = openSync(this.path, isNew ? 'w' : 'r+');
    if (fstatSync(file).size < this.#bytes) this.#rejectChanged();
    ftruncateSync(file, this.#bytes);
    closeSync(file);
    this.#file = openSync(this.path, 'a');
    return this.#file;
  }

  #rejectChanged(): never {
    throw new ImportError(
      `${this.path} lacks rows that the import has rejected: restore it, or delete ${this.#source.file}.journal to start again, which creates all pets again`,
    );
  }

  #start(): string {
    const { format, encodingWithoutMark, header } = this.#source;
    if (format === 'csv')
      return BYTE_ORDER_MARK + this.#csv([[...addedColumns, ...header.slice(replacedColumns(header))]]);
    return encodingWithoutMark === 'utf-8' ? '' : BYTE_ORDER_MARK;
  }

  #format({ line, original }: Row, code: string, message: string): string {
    if (typeof original !== 'string') {
      const { header } = this.#source;
      const width = Math.max(header.length, withoutEmptyEnd(original).length);
      return this.#csv([[line, code, message, ...original.slice(replacedColumns(header), width)]]);
    }
    return `${JSON.stringify({ line, code, message, ...membersOf(original) })}\n`;
  }

  #csv(rows: (string | number)[][]): string {
    const { delimiter, isRaw } = this.#source;
    const cellOf = (value: string | number) =>
      typeof value === 'string' && !isRaw ? escapeFormula(value) : value;
    return stringify(
      rows.map(row => row.map(cellOf)),
      { delimiter },
    );
  }
}

/** The members of a line of NDJSON; the text of a line that is not an object. */
function membersOf(text: string): object {
  try {
    const value = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return { row: text };
    const members = Object.entries(value);
    const names = members.map(([name]) => name);
    const rest = members.slice(replacedColumns(names));
    // An object has one member with a name. The import ignores the other names, too.
    return Object.fromEntries(
      rest.map(([name, cell]) => [isAddedColumn(name) ? unusedName(`${name}_`, names) : name, cell]),
    );
  } catch {
    return { row: text };
  }
}

const unusedName = (name: string, used: readonly string[]): string =>
  used.includes(name) ? unusedName(`${name}_`, used) : name;
