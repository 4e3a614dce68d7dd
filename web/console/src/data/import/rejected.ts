import { addedColumns, type CsvRow, type Field, isAddedColumn } from '@petstore/pet-files';
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
  const isOriginal = (_: string, i: number) => !isAddedColumn(header[i]);
  const lines = rows
    .toSorted((a, b) => a.row.line - b.row.line)
    .map(({ row, code, message }) => [row.line, code, message, ...row.cells.filter(isOriginal)]);
  return csvOf([[...addedColumns, ...header.filter(isOriginal)], ...lines], delimiter);
}
