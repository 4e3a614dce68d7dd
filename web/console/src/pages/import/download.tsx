import type { CsvFile } from '../../data/import/csv.ts';
import { type BadRow, rejectedFile } from '../../data/import/rejected.ts';
import { Button } from '../../kit/button.tsx';
import { inWords } from '../../kit/in-words.ts';

/** Without it, spreadsheet programs do not read a file as UTF-8. */
const BOM = '\uFEFF';

/** Downloads rejected rows with their reasons, so that they can be corrected and imported. */
export function Download({ file, rows }: { file: CsvFile; rows: readonly BadRow[] }) {
  if (rows.length === 0) return null;
  function download(): void {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([BOM, rejectedFile(file, rows)], { type: 'text/csv' }));
    link.download = file.name.replace(/(\.\w+)?$/, '.rejected.csv');
    link.click();
    // The browser has begun to read it by then.
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }
  return <Button onClick={download}>Download {inWords(rows.length, 'row')}</Button>;
}
