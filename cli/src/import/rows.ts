import type { Columns } from './columns.ts';
import { records, type Source } from './source.ts';

/** A row of the file. */
export interface Row {
  /** The line on which it starts, from 1. */
  line: number;
  /** The values of its fields; a message if it cannot be read. */
  values: Readonly<Record<string, unknown>> | string;
  /** What it is in the file: the cells of a CSV row, or a line of NDJSON. */
  original: readonly string[] | string;
}

/** Yields the rows of a file, from the row with an index on. Needs memory for a few rows only. */
export async function* rowsOf(
  source: Source,
  columns: Columns,
  from: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Row> {
  let index = source.format === 'csv' ? -1 : 0;
  for await (const { line, cells } of records(source)) {
    signal?.throwIfAborted();
    if (index++ < from) continue;
    if (source.format === 'csv') yield { line, values: columns.ofCells(cells), original: cells };
    else yield { line, values: columns.ofJson(cells[0]!), original: cells[0]! };
  }
}
