import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { escapeFormula, unescapeFormula } from '../../../pet-files/src/formulas.ts';
import { csvOf, parseCsv } from '../../../web/console/src/data/import/csv.ts';
import { sized } from '../support/long.ts';
import { isFormula, spreadsheetCells } from '../support/spreadsheet.ts';
import { assertNone, valuesOf } from '../support/values.ts';

/** Texts that often have something like a formula, with apostrophes before it, at the start or after a separator. */
const anyText = fc.string({ unit: fc.constantFrom(...`'"=+-@＝＠;,|\t\r\na1 `) });

describe('a text that begins like a formula', () => {
  it('is escaped with an apostrophe, and comes back as it was', () => {
    for (const [text, cell] of [
      ['=1+1', "'=1+1"],
      ['+1', "'+1"],
      ['-1', "'-1"],
      ['@SUM(A1)', "'@SUM(A1)"],
      ['＝1+1', "'＝1+1"],
      ['a;－1', "a;'－1"],
      ['\t=1', "'\t'=1"],
      ['\r=1', "'\r'=1"],
      ['a;=1+1', "a;'=1+1"],
      ['a;"=1+1"', `a;'"=1+1"`],
      ["a,'@b", "a,''@b"],
      ['a\n-1\tb', "a\n'-1\tb"],
      ['a; -1', 'a; -1'],
      ["'=1", "''=1"],
      ["''", "''"],
      ["'Rex'", "'Rex'"],
      ['a=1', 'a=1'],
    ] as const) {
      assert.equal(escapeFormula(text), cell);
      assert.equal(unescapeFormula(cell), text);
    }
    fc.assert(
      fc.property(anyText, text => {
        assert.equal(unescapeFormula(escapeFormula(text)), text);
      }),
    );
  });

  it('is the same in a file that is written and read again, has no formula whatever a program separates cells with, and numbers stay numbers', async () => {
    const separators = [',', ';', '\t'];
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyText, { minLength: 1 }),
        fc.constantFrom(...separators),
        async (texts, delimiter) => {
          const lines = texts.map(text => [text, 'x', text]);
          const file = csvOf([['h', 'h', 'h'], ...lines], delimiter);
          const { rows } = await parseCsv('a.csv', file);
          assert.deepEqual(valuesOf(rows, 'cells'), lines);
          for (const separator of separators)
            assertNone(spreadsheetCells(file, separator), isFormula, `${separator} in ${file}`);
        },
      ),
      { numRuns: sized(50, 500) },
    );
    assert.equal(csvOf([['=a', -5, 7]], ';'), "'=a;-5;7\r\n");
  });
});
