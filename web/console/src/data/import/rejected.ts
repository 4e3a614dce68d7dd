import { addedColumns, type CsvRow, type Field, replacedColumns } from '@petstore/pet-files';
import { type CsvFile, csvOf } from './csv.ts';

/** A row that was not imported, and why. */
export interface BadRow {
  row: CsvRow;
  code: string;
  message: string;
  /** The field that has to be corrected; `undefined` if it is not one. */
  field?: Field | undefined;
}

/** Writes rows as a CSV file that can be corrected and imported again: their lines and reasons, and their own columns. */
export function rejectedFile({ header, delimiter }: CsvFile, rows: readonly BadRow[]): string {
  const replaced = replacedColumns(header);
  const lines = rows
    .toSorted((a, b) => a.row.line - b.row.line)
    .map(({ row, code, message }) => [row.line, code, message, ...row.cells.slice(replaced)]);
  return csvOf([[...addedColumns, ...header.slice(replaced)], ...lines], delimiter);
}
