/**
 * The cells of a CSV file as a spreadsheet program reads them that separates cells with `separator`. Quotes count only at the start of a
 * cell, and text after the closing one belongs to the cell.
 */
export function spreadsheetCells(text: string, separator: string): string[] {
  const cell = new RegExp(
    `(?:"((?:[^"]|"")*)(?:"|$))?([^${separator}\\r\\n]*)(?:${separator}|\\r\\n?|\\n|$)`,
    'y',
  );
  const cells: string[] = [];
  while (cell.lastIndex < text.length) {
    const [, quoted = '', rest = ''] = cell.exec(text)!;
    cells.push(quoted.replaceAll('""', '"') + rest);
  }
  return cells;
}

/** Whether a spreadsheet program executes a cell, perhaps without the white space before. */
export function isFormula(cell: string): boolean {
  return /^[\t\r\n]*[=+\-@＝＋－＠]/.test(cell);
}
