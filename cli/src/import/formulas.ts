/** The start of a cell that spreadsheet programs execute as a formula, also after apostrophes. */
const FORMULA = /^'*[=+\-@\t\r]/;
const ESCAPED = /^'+[=+\-@\t\r]/;

/**
 * Returns a text for a cell of a CSV file, in which spreadsheet programs show it instead of executing it as a formula. A text that
 * already begins with apostrophes gets one more, so that `unescapeFormula` returns every text as it was.
 */
export function escapeFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** Removes exactly the apostrophe of `escapeFormula`. */
export function unescapeFormula(cell: string): string {
  return ESCAPED.test(cell) ? cell.slice(1) : cell;
}
