import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { escapeFormula, unescapeFormula } from '../../../cli/src/import/formulas.ts';
import { csvOf, parseCsv } from '../../../web/console/src/data/import/csv.ts';

/** Texts that often begin like a formula, with apostrophes before it. */
const anyText = fc.string({ unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', 'a', '1', ' ') });

describe('a text that begins like a formula', () => {
  it('is escaped with an apostrophe, and comes back as it was', () => {
    for (const [text, cell] of [
      ['=1+1', "'=1+1"],
      ['+1', "'+1"],
      ['-1', "'-1"],
      ['@SUM(A1)', "'@SUM(A1)"],
      ['\t=1', "'\t=1"],
      ['\r=1', "'\r=1"],
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
        const cell = escapeFormula(text);
        assert.doesNotMatch(cell, /^[=+\-@\t\r]/);
        assert.equal(unescapeFormula(cell), text);
      }),
    );
  });

  it('is the same in a file that is written and read again, and numbers stay numbers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyText, { minLength: 1, maxLength: 5 }), async texts => {
        const text = csvOf(
          [
            ['h', ...texts.map(() => 'h')],
            ['x', ...texts],
          ],
          ',',
        );
        const { rows } = await parseCsv('a.csv', text);
        assert.deepEqual(rows[0]!.cells, ['x', ...texts]);
      }),
    );
    assert.equal(csvOf([['=a', -5, 7]], ';'), "'=a;-5;7\r\n");
  });
});
