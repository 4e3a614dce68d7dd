import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import {
  type CsvRow,
  CsvRows,
  csvOptions,
  csvProblem,
  type Delimiter,
  delimiterOf,
  HEADER_BYTES,
  type ParsedRecord,
} from '@petstore/pet-files';
import { parse } from 'csv-parse';
import { UsageError } from '../failure.ts';

export type Format = 'csv' | 'ndjson';

/** What is known about a file before its rows are read. */
export interface Source {
  file: string;
  format: Format;
  /** CSV only. */
  delimiter: Delimiter;
  /** CSV only: whether the apostrophes before formulas are part of the cells. */
  isRaw: boolean;
  /** The cells of the first row of a CSV file. */
  header: readonly string[];
  bytes: number;
  sha256: string;
  /** The number of rows, without the header. */
  rows: number;
}

/** Reads a whole file once: whether it can be read as CSV, how many rows it has, and which content. */
export async function inspect(file: string, format: Format, isRaw: boolean): Promise<Source> {
  const bytes = sizeOf(file);
  const delimiter = format === 'csv' ? delimiterOf(await startOf(file)) : ',';
  const source: Source = { file, format, delimiter, isRaw, header: [], bytes, sha256: '', rows: 0 };
  const hash = createHash('sha256');
  for await (const { cells } of records(source, chunk => hash.update(chunk))) {
    if (format === 'csv' && source.header.length === 0) source.header = cells;
    else source.rows++;
  }
  return { ...source, sha256: hash.digest('hex') };
}

async function startOf(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** A row of CSV, or a line of NDJSON, which is one cell. */
type FileRecord = CsvRow;

/** Yields the records of a file, including the header. */
export function records(source: Source, onChunk?: (chunk: Buffer) => void): AsyncGenerator<FileRecord> {
  // What another program appends meanwhile is not part of the import.
  const stream = createReadStream(source.file, { end: Math.max(0, source.bytes - 1) });
  if (onChunk) stream.on('data', chunk => onChunk(chunk as Buffer));
  return source.format === 'csv' ? csvRecords(source, stream) : lines(stream);
}

async function* csvRecords({ file, delimiter, isRaw }: Source, stream: NodeJS.ReadableStream) {
  const parser = parse(csvOptions(delimiter));
  stream.on('error', error => parser.destroy(error)).pipe(parser);
  const rows = new CsvRows({ isRaw });
  try {
    for await (const record of parser as AsyncIterable<ParsedRecord>) {
      const row = rows.next(record);
      if (row) yield row;
    }
  } catch (error) {
    throw new UsageError(`${file} is ${csvProblem(error)}`);
  }
}

async function* lines(stream: NodeJS.ReadableStream): AsyncGenerator<FileRecord> {
  let line = 0;
  for await (const text of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
    line++;
    const content = line === 1 ? text.replace(/^\ufeff/, '') : text;
    if (content.trim() !== '') yield { line, cells: [content] };
  }
}

function sizeOf(file: string): number {
  let stats: ReturnType<typeof statSync>;
  try {
    stats = statSync(file)!;
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
  if (!stats.isFile())
    throw new UsageError(
      `${file} is not a file: store the rows in a file, so that the import can be continued`,
    );
  return Number(stats.size);
}
