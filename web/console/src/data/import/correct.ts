import type { CsvRow } from '@petstore/pet-files';
import type { Mapping } from './columns.ts';
import { type CsvFile, newFileId } from './csv.ts';

/**
 * Returns a file in which a cell has another text. A category or a status that `isWrong` is replaced in every row that has the same text,
 * because it is wrong there, too. `lines` are those of the rows that it changes.
 */
export function withCell(
  file: CsvFile,
  mapping: Mapping,
  { line, cells }: CsvRow,
  column: number,
  text: string,
  isWrong: boolean,
): { file: CsvFile; lines: readonly number[] } {
  const field = mapping[column];
  const isShared = isWrong && (field === 'category' || field === 'status') && cells[column] !== '';
  const lines: number[] = [];
  const rows = file.rows.map(row => {
    if (row.line !== line && !(isShared && row.cells[column] === cells[column])) return row;
    lines.push(row.line);
    return { ...row, cells: row.cells.with(column, text) };
  });
  return { file: { ...file, id: newFileId(), rows }, lines };
}
