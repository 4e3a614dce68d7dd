import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { guessMapping, problemOf } from './columns.ts';
import { type CsvFile, csvOf, parseCsv } from './csv.ts';
import { rejectedFile } from './rejected.ts';

describe('a CSV file', () => {
  it('is read with its delimiter, quotes, line breaks in cells and the line of each row', async () => {
    const text = '\uFEFFName;Note\r\nRex;"a; ""b"""\r\n\r\n"Bo\r\nnie";c\r\nMax;d';
    const { delimiter, header, rows } = await parseCsv('pets.csv', text);
    assert.deepEqual([delimiter, header], [';', ['Name', 'Note']]);
    assert.deepEqual(rows, [
      { line: 2, cells: ['Rex', 'a; "b"'] },
      { line: 4, cells: ['Bo\r\nnie', 'c'] },
      { line: 6, cells: ['Max', 'd'] },
    ]);
    const quoted = await parseCsv('pets.csv', '"Name, full";"Kind, breed, colour"\nRex;Dog');
    assert.deepEqual(quoted.header, ['Name, full', 'Kind, breed, colour']);
  });

  it('is rejected with the problem and the remedy', async () => {
    await assert.rejects(
      parseCsv('a.csv', ''),
      /^Error: a\.csv is empty: name the columns in its first line$/,
    );
    await assert.rejects(parseCsv('a.csv', 'name\n'), /no rows below its header/);
    await assert.rejects(
      parseCsv('a.csv', 'name\n"open'),
      /not a valid CSV file near line 2: a quote is not closed/,
    );
  });

  it('is written so that it can be read again', async () => {
    const rows = [
      ['name', 'note'],
      ['Rex', 'says "hi", \nand leaves'],
    ];
    const { header, rows: again } = await parseCsv('a.csv', csvOf(rows, ','));
    assert.deepEqual([header, again[0]!.cells], rows);
  });
});

describe('the columns of a file', () => {
  it('are guessed from their names, each field once', () => {
    assert.deepEqual(guessMapping(['Pet_Name', 'Species', 'category ID', 'Colour', 'Stock', 'units']), [
      'name',
      'category',
      'categoryId',
      '',
      'quantity',
      '',
    ]);
  });

  it('are guessed in German, French and Spanish, also if a word means two fields', () => {
    const guesses: [header: string[], expected: string[]][] = [
      [
        ['Art.', 'Tiername', 'BESTAND', 'Kategorie-ID'],
        ['category', 'name', 'quantity', 'categoryId'],
      ],
      [
        ['Nombre', 'Nom', 'Espèce', 'État'],
        ['quantity', 'name', 'category', 'status'],
      ],
      [
        ['Nombre', 'Categoría', 'Cantidad', 'id'],
        ['name', 'category', 'quantity', ''],
      ],
      [
        ['nombre', 'espece'],
        ['name', 'category'],
      ],
    ];
    for (const [header, expected] of guesses) assert.deepEqual(guessMapping(header), expected);
  });

  it('need a name and a category', () => {
    assert.equal(problemOf([], ['name', 'categoryId', '']), undefined);
    assert.match(problemOf([], ['category', ''])!, /names/);
    assert.match(problemOf([], ['name', 'status'])!, /categories/);
    assert.match(problemOf([], ['name', 'name', 'category'])!, /Two columns are the field name/);
  });

  it('cannot have a name of a column that the file of rejected rows adds', () => {
    const header = ['code', 'category'];
    assert.match(problemOf(header, ['name', 'category'])!, /column "code" of its own: give .* another name/);
    assert.equal(problemOf([...header, 'name'], ['', 'category', 'name']), undefined);
  });
});

describe('the file of rejected rows', () => {
  it('has the reasons and the original columns, and replaces the reasons of an earlier import', () => {
    const header = ['line', 'code', 'message', 'name'];
    const file: CsvFile = { id: '1', name: 'a.csv', delimiter: ',', header, rows: [] };
    const row = { line: 3, cells: ['9', 'old', 'old reason', 'Rex, the first'] };
    assert.equal(
      rejectedFile(file, [{ row, code: 'invalid_request', message: 'status: is wrong' }]),
      'line,code,message,name\r\n3,invalid_request,status: is wrong,"Rex, the first"\r\n',
    );
  });

  it('keeps columns of the user that have the names of the reasons', () => {
    const header = ['name', 'code', 'message'];
    const file: CsvFile = { id: '1', name: 'a.csv', delimiter: ',', header, rows: [] };
    const row = { line: 2, cells: ['Rex', 'R1', 'Call the owner'] };
    assert.equal(
      rejectedFile(file, [{ row, code: 'invalid_request', message: 'No' }]),
      'line,code,message,name,code,message\r\n2,invalid_request,No,Rex,R1,Call the owner\r\n',
    );
  });
});
