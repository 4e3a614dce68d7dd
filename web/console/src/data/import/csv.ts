import { parse } from 'csv-parse/browser/esm/sync';
import { csvProblem, MAX_ROW } from '../../../../../cli/src/import/csv-problem.ts';
import { escapeFormula, unescapeFormula } from '../../../../../cli/src/import/formulas.ts';

/** Larger files are read by the command `petstore import`, which needs memory for a few rows only. */
const MOST_BYTES = 10 * 1024 * 1024;

/** How many characters are parsed before the page can be drawn again. */
const SLICE = 64 * 1024;
/** The header is in the first part of a file. */
const HEADER = 64 * 1024;

const delimiters = [',', ';', '\t'] as const;

/** A row of a CSV file. */
export interface CsvRow {
  /** The line on which it starts, from 1. */
  line: number;
  cells: readonly string[];
}

/** A CSV file that was read. */
export interface CsvFile {
  /** Unique in this tab. */
  id: string;
  name: string;
  delimiter: string;
  header: readonly string[];
  rows: readonly CsvRow[];
}

/** Reads a file in UTF-8. Rejects with what is wrong with it, and what to do. */
export async function readCsv(file: File): Promise<CsvFile> {
  if (file.size > MOST_BYTES)
    throw new Error(
      `${file.name} has more than 10 MB: split it, or import it with the command petstore import`,
    );
  const text = decode(file.name, await bytesOf(file));
  return { id: crypto.randomUUID(), name: file.name, ...(await parseCsv(file.name, text)) };
}

async function bytesOf(file: File): Promise<ArrayBuffer> {
  try {
    return await file.arrayBuffer();
  } catch (error) {
    throw new Error(`${file.name} cannot be read: choose a file instead of a folder`, { cause: error });
  }
}

function decode(name: string, bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`${name} is not UTF-8 text: save it as “CSV UTF-8”`);
  }
}

/** Parses the text of a file. Rejects with what is wrong with it, and what to do. */
export async function parseCsv(
  name: string,
  text: string,
): Promise<Pick<CsvFile, 'delimiter' | 'header' | 'rows'>> {
  const delimiter = delimiterOf(text);
  const [header, ...rows] = await recordsOf(name, text, delimiter);
  if (!header) throw new Error(`${name} is empty: name the columns in its first line`);
  if (rows.length === 0) throw new Error(`${name} has no rows below its header`);
  return { delimiter, header: header.cells.map(cell => cell.trim()), rows };
}

/** Returns the delimiter that the first line has most often outside of quotes. */
function delimiterOf(text: string): string {
  const [header = ''] = text
    .slice(0, HEADER)
    .replace(/"(?:[^"]|"")*"/g, '')
    .split(/\r\n?|\n/, 1);
  const count = (delimiter: string) => header.split(delimiter).length;
  return delimiters.reduce<string>((best, next) => (count(next) > count(best) ? next : best), ',');
}

async function recordsOf(name: string, text: string, delimiter: string): Promise<CsvRow[]> {
  const options = {
    bom: true,
    delimiter,
    max_record_size: MAX_ROW,
    raw: true,
    relax_column_count: true,
    skip_empty_lines: true,
  };
  const found: CsvRow[] = [];
  let before = 0;
  for (let from = 0; from < text.length; ) {
    const end = endOfSlice(text, from);
    for (const { raw, record } of parsed(name, text.slice(from, end), before, options)) {
      // The text of a record begins with the empty lines before it. The parser's own count is wrong for CRLF in quotes.
      const [empty = ''] = /^[\r\n]*/.exec(raw)!;
      if (record.some(cell => cell.trim() !== ''))
        found.push({ line: before + breaksIn(empty) + 1, cells: record.map(unescapeFormula) });
      before += breaksIn(raw);
    }
    from = end;
    await new Promise(resolve => setTimeout(resolve));
  }
  return found;
}

/** The end of the first row that ends after a slice. Line breaks in quotes end no row. A row that is too long is cut. */
function endOfSlice(text: string, from: number): number {
  const most = Math.min(text.length, from + SLICE + MAX_ROW + 1);
  let isQuoted = false;
  for (let at = from; at < most; at++) {
    const character = text[at];
    if (character === '"') isQuoted = !isQuoted;
    else if (character === '\n' && !isQuoted && at - from >= SLICE) return at + 1;
  }
  return most;
}

function parsed(
  name: string,
  text: string,
  linesBefore: number,
  options: object,
): { raw: string; record: string[] }[] {
  try {
    // With `raw` a record is an object, which the types of the parser do not know.
    return parse(text, options) as unknown as { raw: string; record: string[] }[];
  } catch (error) {
    throw new Error(`${name} is ${csvProblem(error, linesBefore)}`, { cause: error });
  }
}

const breaksIn = (text: string) => text.match(/\r\n|\r|\n/g)?.length ?? 0;

/** Writes rows as CSV (RFC 4180), in which spreadsheet programs execute no text as a formula. */
export function csvOf(rows: readonly (readonly (string | number)[])[], delimiter: string): string {
  const cellOf = (value: string | number) => {
    const text = typeof value === 'string' ? escapeFormula(value) : String(value);
    return text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map(row => `${row.map(cellOf).join(delimiter)}\r\n`).join('');
}
