/** Programs in Japanese read the full-width forms as formulas as well (OWASP, CSV Injection). */
const START = '=+\\-@＝＋－＠';

/**
 * Where a spreadsheet program can find a cell that it executes as a formula, also after apostrophes: at the start of a text, and after a
 * character in it that separates cells or rows in another file. Quotes do not protect such a part, because a program that separates cells
 * at `;` does not see those of a cell after a comma.
 */
const FORMULA = formulaAfter('');
const ESCAPED = formulaAfter("'");

/**
 * Returns a text for a cell of a CSV file, in which spreadsheet programs show it instead of executing it or a part of it as a formula,
 * whatever they separate cells with. Where apostrophes already are, it adds one more, so that `unescapeFormula` returns every text as
 * it was.
 */
export function escapeFormula(text: string): string {
  return text.replace(FORMULA, "'");
}

/** Removes exactly the apostrophes of `escapeFormula`. */
export function unescapeFormula(cell: string): string {
  return cell.replace(ESCAPED, '');
}

/** Matches a text, such as an apostrophe, before each formula. */
function formulaAfter(text: string): RegExp {
  return new RegExp(`^${text}(?='*[${START}\\t\\r])|(?<=[,;\\t\\r\\n])${text}(?='*"*[${START}])`, 'g');
}
