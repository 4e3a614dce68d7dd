import type { Options } from 'csv-parse';
import { unescapeFormula } from './formulas.ts';

/** What a CSV file separates its cells with. */
export type Delimiter = ',' | ';' | '\t';

const delimiters: readonly Delimiter[] = [',', ';', '\t'];

/** How much of a file `delimiterOf` needs, in bytes: the header is in its first part. */
export const HEADER_BYTES = 64 * 1024;

/** A row that is longer is the result of a quote that is not closed. In bytes. */
export const MAX_ROW = 1024 * 1024;

/** What is wrong, by the codes of csv-parse. */
const reasons: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed. Close it, or write "" for a quote inside of quotes',
  CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quote. Write "" for a quote inside of quotes',
  CSV_MAX_RECORD_SIZE: 'a row is too long. Check whether a quote is not closed',
  INVALID_OPENING_QUOTE: 'a quote is in the middle of a cell. Put the whole cell in quotes',
};

/** Describes an error of csv-parse, whose text began after some lines of its file. Throws every other error. */
export function csvProblem(error: unknown, linesBefore = 0): string {
  if (!(error instanceof Error) || !('code' in error)) throw error;
  const reason = reasons[String(error.code)];
  if (!reason && !String(error.code).startsWith('CSV_')) throw error;
  const line = 'lines' in error ? ` near line ${linesBefore + Number(error.lines)}` : '';
  return `not a valid CSV file${line}: ${reason ?? error.message}`;
}

/** Returns the delimiter that the first line that is not empty has most often outside of quotes. `start` is the start of the file. */
export function delimiterOf(start: string): Delimiter {
  const [header = ''] = start.replace(/^[\ufeff\r\n]+|"(?:[^"]|"")*"/g, '').split(/\r\n?|\n/, 1);
  const count = (delimiter: Delimiter) => header.split(delimiter).length;
  return delimiters.reduce((best, next) => (count(next) > count(best) ? next : best));
}

/** The options of csv-parse for files with pets. A record is then a `ParsedRecord`, which the types of csv-parse do not know. */
export function csvOptions(delimiter: Delimiter): Options {
  return {
    bom: true,
    delimiter,
    max_record_size: MAX_ROW,
    raw: true,
    relax_column_count: true,
    skip_empty_lines: true,
  };
}

export interface ParsedRecord {
  raw: string;
  record: string[];
}

/** A row of a CSV file. */
export interface CsvRow {
  /** The line on which it starts, from 1. */
  line: number;
  cells: readonly string[];
}

/** Makes rows of the records of a file. Counts its lines: the count of csv-parse is wrong for CRLF in quotes. */
export class CsvRows {
  /** The lines of the records so far. */
  lines = 0;
  readonly #isRaw: boolean;

  /** `isRaw` leaves the apostrophes before formulas. */
  constructor({ isRaw = false } = {}) {
    this.#isRaw = isRaw;
  }

  /** Returns the row of the next record; `undefined` if its cells are empty, or if it names the delimiter for Excel. */
  next({ raw, record }: ParsedRecord): CsvRow | undefined {
    const isFirst = this.lines === 0;
    // The text of a record begins with the empty lines before it.
    const [empty = ''] = /^[\r\n]*/.exec(raw)!;
    const line = this.lines + breaksIn(empty) + 1;
    this.lines += breaksIn(raw);
    if (record.every(cell => cell.trim() === '')) return undefined;
    if (isFirst && /^sep=[,;\t]?$/i.test(record.join(''))) return undefined;
    return { line, cells: this.#isRaw ? record : record.map(unescapeFormula) };
  }
}

const breaksIn = (text: string) => text.match(/\r\n|\r|\n/g)?.length ?? 0;

/** Returns cells without empty ones at the end: spreadsheet programs write those of columns that were used once. */
export function withoutEmptyEnd(cells: readonly string[]): readonly string[] {
  let end = cells.length;
  while (end > 0 && cells[end - 1]!.trim() === '') end--;
  return cells.slice(0, end);
}

/** Returns what is wrong with a file without a header, and what to do. All its cells are empty. */
export function emptyProblem(file: string): string {
  return `${file} is empty: name the columns in its first line`;
}

/** Returns why the cells of a row do not fit the header; `undefined` if they do. Further cells may be empty. */
export function widthProblem(
  cells: readonly string[],
  header: readonly string[],
  delimiter: Delimiter,
): string | undefined {
  if (cells.length >= header.length && withoutEmptyEnd(cells).length <= header.length) return undefined;
  const remedy =
    cells.length < header.length
      ? 'write the missing cells, which may be empty'
      : `put a cell with ${JSON.stringify(delimiter)} in quotes`;
  const count = cells.length === 1 ? '1 cell' : `${cells.length} cells`;
  return `The row has ${count}, but the header has ${header.length}: ${remedy}`;
}
