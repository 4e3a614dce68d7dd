import { open } from 'node:fs/promises';
import { UsageError } from '../failure.ts';
import { csvProblem } from './csv-problem.ts';

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
  throw new UsageError(`${file} is ${csvProblem(error)}`);
}
