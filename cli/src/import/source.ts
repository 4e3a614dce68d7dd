import { createHash } from 'node:crypto';
import { createReadStream, type Stats, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import {
  type CsvRow,
  CsvRows,
  csvOptions,
  csvProblem,
  type Delimiter,
  delimiterOf,
  type Encoding,
  EncodingError,
  encodingOf,
  HEADER_BYTES,
  type ParsedRecord,
  TextReader,
  withoutEmptyEnd,
} from '@petstore/pet-files';
import { parse } from 'csv-parse';
import { UsageError } from '../failure.ts';

export type Format = 'csv' | 'ndjson';

/** What is known about a file before its rows are read. */
export interface Source {
  file: string;
  format: Format;
  encoding: Encoding;
  /** The encoding in which the same options read a file without a byte order mark. */
  encodingWithoutMark: Encoding;
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

/** How a file is read. */
export interface Reading {
  format: Format;
  encoding: Encoding;
  isRaw: boolean;
}

/** Reads a whole file once: whether it can be read as text and as CSV, how many rows it has, and which content. */
export async function inspect(file: string, reading: Reading, signal?: AbortSignal): Promise<Source> {
  const bytes = sizeOf(file);
  const isCsv = reading.format === 'csv';
  const start = await startOf(file);
  const encoding = encodingOf(start) ?? reading.encoding;
  const delimiter = isCsv ? delimiterOf(new TextDecoder(encoding).decode(start)) : ',';
  const source: Source = {
    file,
    ...reading,
    encoding,
    encodingWithoutMark: reading.encoding,
    delimiter,
    header: [],
    bytes,
    sha256: '',
    rows: 0,
  };
  const hash = createHash('sha256');
  for await (const { cells } of records(source, chunk => hash.update(chunk))) {
    signal?.throwIfAborted();
    if (isCsv && source.header.length === 0) source.header = withoutEmptyEnd(cells);
    else source.rows++;
  }
  return { ...source, sha256: hash.digest('hex') };
}

async function startOf(file: string): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Yields the rows of a file, including the header. A line of NDJSON is one cell. */
export function records(source: Source, onChunk?: (chunk: Buffer) => void): AsyncGenerator<CsvRow> {
  const texts = textOf(source, onChunk);
  return source.format === 'csv' ? csvRecords(source, Readable.from(texts)) : lines(texts);
}

async function* textOf({ file, bytes, encoding }: Source, onChunk?: (chunk: Buffer) => void) {
  const reader = new TextReader(encoding);
  try {
    // What another program appends meanwhile is not part of the import.
    for await (const chunk of createReadStream(file, { end: Math.max(0, bytes - 1) })) {
      onChunk?.(chunk);
      yield reader.read(chunk);
    }
    yield reader.end();
  } catch (error) {
    if (!(error instanceof EncodingError)) throw error;
    throw new UsageError(
      `${file} is not UTF-8 text: ${error.message}. Save it as “CSV UTF-8”, or use --encoding windows-1252, which Excel writes in Western Europe`,
    );
  }
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
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${file} is ${csvProblem(error)}`);
  }
}

async function* lines(texts: AsyncIterable<string>): AsyncGenerator<CsvRow> {
  const input = Readable.from(withoutSeparators(texts));
  let line = 0;
  for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    line++;
    const content = line === 1 ? text.replace(/^\ufeff/, '') : text;
    if (content.trim() !== '') yield { line, cells: [content] };
  }
}

/** Escapes the characters that end a line for readline, but not in JSON. */
async function* withoutSeparators(texts: AsyncIterable<string>) {
  for await (const text of texts) yield text.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

function sizeOf(file: string): number {
  let stats: Stats;
  try {
    stats = statSync(file);
  } catch (error) {
    if (file === '-') throw notStored('Standard input');
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
  if (!stats.isFile()) throw notStored(file);
  return stats.size;
}

function notStored(input: string): UsageError {
  return new UsageError(
    `${input} is not a file: store the rows in a file, so that the import can be continued`,
  );
}
