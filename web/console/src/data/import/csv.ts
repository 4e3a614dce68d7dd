import {
  type CsvRow,
  CsvRows,
  csvOptions,
  csvProblem,
  type Delimiter,
  delimiterOf,
  type Encoding,
  EncodingError,
  emptyProblem,
  encodingOf,
  escapeFormula,
  HEADER_BYTES,
  MAX_ROW,
  type ParsedRecord,
  TextReader,
  withoutEmptyEnd,
} from '@petstore/pet-files';
import { parse } from 'csv-parse/browser/esm/sync';

/** Larger files are read by the command `petstore import`, which needs memory for a few rows only. */
const MOST_BYTES = 10 * 1024 * 1024;

/** How many characters are parsed before the page can be drawn again. */
const SLICE = 64 * 1024;

/** A CSV file that was read. */
export interface CsvFile {
  /** Unique in this tab. Another one after each correction. */
  id: string;
  name: string;
  delimiter: Delimiter;
  header: readonly string[];
  rows: readonly CsvRow[];
}

let files = 0;

/** An ID of a file. Browsers offer `randomUUID` only to pages of HTTPS and of this machine. */
export const newFileId = (): string => String(++files);

/** The bytes of a file are not UTF-8. */
export class NotUtf8 extends Error {
  /** Lines with other characters than ASCII, as they are in Windows-1252. */
  readonly sample: readonly string[];

  constructor(message: string, sample: readonly string[]) {
    super(message);
    this.sample = sample;
  }
}

/** How much of a file of Windows-1252 the user has to look at. */
const SAMPLE = { lines: 3, characters: 120 };

/** Reads a file. Rejects with what is wrong with it, and what to do. */
export async function readCsv(file: File, encoding?: Encoding): Promise<CsvFile> {
  if (file.size > MOST_BYTES)
    throw new Error(
      `${file.name} has more than 10 MB: split it, or import it with the command petstore import`,
    );
  const bytes = new Uint8Array(await bytesOf(file));
  if (WORKBOOKS.some(start => start.every((byte, i) => bytes[i] === byte)))
    throw new Error(`${file.name} is a workbook: save it as “CSV UTF-8” in your spreadsheet program`);
  const text = decode(file.name, bytes, encoding ?? encodingOf(bytes) ?? 'utf-8');
  return { id: newFileId(), name: file.name, ...(await parseCsv(file.name, text)) };
}

async function bytesOf(file: File): Promise<ArrayBuffer> {
  try {
    return await file.arrayBuffer();
  } catch (error) {
    throw new Error(`${file.name} cannot be read: choose a file instead of a folder`, { cause: error });
  }
}

/** The first bytes of a ZIP archive, which .xlsx and .ods files are, and of a compound file, which .xls files are ([MS-CFB] §2.2). */
const WORKBOOKS = [
  [0x50, 0x4b, 0x03, 0x04],
  [0xd0, 0xcf, 0x11, 0xe0],
] as const;

function decode(name: string, bytes: Uint8Array, encoding: Encoding): string {
  const reader = new TextReader(encoding);
  try {
    return reader.read(bytes) + reader.end();
  } catch (error) {
    if (!(error instanceof EncodingError)) throw error;
    // Text files have no NUL, unless they are UTF-16.
    if (bytes.includes(0)) throw new Error(`${name} is not a text file: save the rows as “CSV UTF-8”`);
    throw new NotUtf8(
      `${name} is not UTF-8 text: ${error.message}. Save it as “CSV UTF-8”, or read it as Windows-1252, which Excel writes in Western Europe`,
      sampleOf(decode(name, bytes, 'windows-1252')),
    );
  }
}

function sampleOf(text: string): string[] {
  const lines: string[] = [];
  for (const [line] of text.matchAll(/[^\r\n]+/g)) {
    if (!/[^\0-\x7f]/.test(line)) continue;
    lines.push(line.slice(0, SAMPLE.characters));
    if (lines.length === SAMPLE.lines) break;
  }
  return lines;
}

/** Parses the text of a file. Rejects with what is wrong with it, and what to do. */
export async function parseCsv(
  name: string,
  text: string,
): Promise<Pick<CsvFile, 'delimiter' | 'header' | 'rows'>> {
  const delimiter = delimiterOf(text.slice(0, HEADER_BYTES));
  const [header, ...rows] = await recordsOf(name, text, delimiter);
  if (!header) throw new Error(emptyProblem(name));
  if (rows.length === 0) throw new Error(`${name} has no rows below its header`);
  return { delimiter, header: withoutEmptyEnd(header.cells.map(cell => cell.trim())), rows };
}

async function recordsOf(name: string, text: string, delimiter: Delimiter): Promise<CsvRow[]> {
  const rows = new CsvRows();
  const lineEnd = lineEndOf(text);
  const found: CsvRow[] = [];
  for (let from = 0; from < text.length; ) {
    const end = endOfSlice(text, from, lineEnd);
    for (const record of parsed(name, text.slice(from, end), rows.lines, delimiter)) {
      const row = rows.next(record);
      if (row) found.push(row);
    }
    from = end;
    await new Promise(resolve => setTimeout(resolve));
  }
  return found;
}

/** The character that ends the lines of a file: that of its first one. Cells can have others. */
function lineEndOf(text: string): '\r' | '\n' {
  const start = text.slice(0, HEADER_BYTES).replace(/"[^"]*"/g, '');
  return /\r\n?|\n/.exec(start)?.[0] === '\r' ? '\r' : '\n';
}

/** The end of the first row that ends after a slice. Line breaks in quotes end no row. A row that is too long is cut. */
function endOfSlice(text: string, from: number, lineEnd: string): number {
  const most = Math.min(text.length, from + SLICE + MAX_ROW + 1);
  let isQuoted = false;
  for (let at = from; at < most; at++) {
    const character = text[at];
    if (character === '"') isQuoted = !isQuoted;
    else if (character === lineEnd && !isQuoted && at - from >= SLICE) return at + 1;
  }
  return most;
}

function parsed(name: string, text: string, linesBefore: number, delimiter: Delimiter): ParsedRecord[] {
  try {
    return parse(text, csvOptions(delimiter)) as unknown as ParsedRecord[];
  } catch (error) {
    throw new Error(`${name} is ${csvProblem(error, linesBefore)}`, { cause: error });
  }
}

/** Writes rows as CSV (RFC 4180), in which spreadsheet programs execute no text as a formula. */
export function csvOf(rows: readonly (readonly (string | number)[])[], delimiter: string): string {
  const cellOf = (value: string | number) => {
    const text = typeof value === 'string' ? escapeFormula(value) : String(value);
    return text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map(row => `${row.map(cellOf).join(delimiter)}\r\n`).join('');
}
