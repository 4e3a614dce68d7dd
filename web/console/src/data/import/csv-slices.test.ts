import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCsv } from './csv.ts';

/** Long enough for several slices. */
const ROWS = 20_000;

describe('a long CSV file', () => {
  it('has every row with its line, whatever is in the cells where it is cut', async () => {
    const cells = (i: number) => [`Pet ${i}`, i % 3 === 0 ? `a "quote";\r\nand a line break ${i}` : 'plain'];
    const quoted = (cell: string) => (/[";\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
    const text = Array.from({ length: ROWS }, (_, i) => `${cells(i).map(quoted).join(';')}\r\n`).join('');
    const { rows } = await parseCsv('long.csv', `\uFEFFname;note\r\n${text}`);
    assert.equal(rows.length, ROWS);
    let line = 2;
    for (const [i, row] of rows.entries()) {
      assert.deepEqual(row, { line, cells: cells(i) });
      line += i % 3 === 0 ? 2 : 1;
    }
  });

  it('has every row also if its lines end with CR', async () => {
    const names = Array.from({ length: ROWS }, (_, i) => `Pet ${i} "${'x'.repeat(60)}"\n`);
    const text = names.map(name => `"${name.replaceAll('"', '""')}"\r`).join('');
    const { rows } = await parseCsv('mac.csv', `name\r${text}`);
    assert.deepEqual(
      rows.map(({ cells }) => cells[0]),
      names,
    );
  });

  it('is parsed in slices, between which other tasks run', async () => {
    let tasks = 0;
    let isParsed = false;
    const count = () => {
      tasks++;
      if (!isParsed) setImmediate(count);
    };
    setImmediate(count);
    await parseCsv('long.csv', `name\n${'Rex\n'.repeat(200_000)}`);
    isParsed = true;
    assert.ok(tasks > 5, `${tasks} tasks`);
  });

  it('is rejected with the line of its fault', async () => {
    const text = `name,note\n${'Rex,brown\n'.repeat(ROWS)}Max,"wh"ite\n`;
    await assert.rejects(
      parseCsv('long.csv', text),
      new RegExp(`long.csv is not a valid CSV file near line ${ROWS + 2}: text follows a closing quote`),
    );
  });

  it('is rejected early if a quote is not closed, or if it has no lines', async () => {
    const text = 'x'.repeat(3 * 1024 * 1024);
    for (const broken of [`name\n"${text}`, text])
      await assert.rejects(
        parseCsv('long.csv', broken),
        /a row is too long. Check whether a quote is not closed/,
      );
  });
});
