import { ownColumns } from './columns.ts';
import { type CsvFile, type CsvRow, csvOf } from './csv.ts';

/** A row that was not imported, and why. */
export interface BadRow {
  row: CsvRow;
  code: string;
  message: string;
}

/** Writes rows as a CSV file that can be corrected and imported again: their lines and reasons, and their own columns. */
export function rejectedFile({ header, delimiter }: CsvFile, rows: readonly BadRow[]): string {
  const isOriginal = (_: string, i: number) => !ownColumns.includes(header[i] ?? '');
  const lines = rows
    .toSorted((a, b) => a.row.line - b.row.line)
    .map(({ row, code, message }) => [row.line, code, message, ...row.cells.filter(isOriginal)]);
  return csvOf([[...ownColumns, ...header.filter(isOriginal)], ...lines], delimiter);
}
