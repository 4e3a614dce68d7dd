import { open } from 'node:fs/promises';
import { UsageError } from '../failure.ts';

/** What a CSV file separates its cells with. */
export type Delimiter = ',' | ';' | '\t';

const delimiters: readonly Delimiter[] = [',', ';', '\t'];
/** The header is in the first part of a file. */
const HEADER_BYTES = 64 * 1024;

/** Returns the delimiter that the first line has most often outside of quotes. */
export async function delimiterOf(file: string): Promise<Delimiter> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    const text = buffer.toString('utf8', 0, bytesRead).replace(/"(?:[^"]|"")*"/g, '');
    const [header = ''] = text.split(/\r\n?|\n/, 1);
    const count = (delimiter: Delimiter) => header.split(delimiter).length;
    return delimiters.reduce((best, next) => (count(next) > count(best) ? next : best));
  } finally {
    await handle.close();
  }
}

/** Throws the error of the CSV parser as one that names the file and the line. */
export function rethrowAsUsage(file: string, error: unknown): never {
  if (!(error instanceof Error) || !('code' in error) || !String(error.code).startsWith('CSV_')) throw error;
  const line = 'lines' in error ? ` near line ${error.lines}` : '';
  const reasons: Record<string, string> = {
    CSV_QUOTE_NOT_CLOSED: 'a quote is not closed. Close it, or write "" for a quote inside of quotes',
    CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quote. Write "" for a quote inside of quotes',
    CSV_MAX_RECORD_SIZE: 'a row is too long. Check whether a quote is not closed',
    INVALID_OPENING_QUOTE: 'a quote is in the middle of a cell. Put the whole cell in quotes',
  };
  const reason = reasons[String(error.code)] ?? error.message;
  throw new UsageError(`${file} is not a valid CSV file${line}: ${reason}`);
}
