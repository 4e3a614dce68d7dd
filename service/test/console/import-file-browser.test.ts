import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useConsole } from '../support/console-page.ts';
import { stockOf } from '../support/factories.ts';
import { drop, openImport } from '../support/import-page.ts';

const visit = useConsole();

describe('the file of an import', () => {
  it('is rejected with the problem and the remedy if it cannot be read, and at once if it is too large', async t => {
    const { page, choose } = await openImport(await visit(t));
    const MEBIBYTE = 1024 * 1024;
    for (const [name, part, times, message] of [
      ['huge.csv', 'x'.repeat(MEBIBYTE), 200, 'huge.csv has more than 10 MB: split it'],
      ['one-line.json', '"x",'.repeat(MEBIBYTE), 9, /one-line\.json has more than 10 MB/],
      ['one-line.txt', 'x'.repeat(MEBIBYTE), 9, /one-line\.txt is not a valid CSV file.*a row is too long/],
    ] as const) {
      await drop(page, '.drop-zone', [[name, part, times]]);
      await page.getByText(message).waitFor();
    }
    for (const [name, bytes, message] of [
      [
        'animals.xlsx',
        [0x50, 0x4b, 0x03, 0x04, 0xff, 0xfe, 0x00],
        /animals\.xlsx is a workbook: save it as “CSV UTF-8”/,
      ],
      ['old.xls', [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0x00], /old\.xls is a workbook/],
      ['photo.csv', [0xff, 0xd8, 0xff, 0x00], /photo\.csv is not a text file: save the rows as “CSV UTF-8”/],
      [
        'windows-1252.csv',
        [0x42, 0xe4, 0x72],
        /windows-1252\.csv is not UTF-8 text: line 1 has bytes that are not UTF-8\. Save it as “CSV UTF-8”/,
      ],
      ['open.csv', [...Buffer.from('name,category\n"Rex,Dogs\n')], /open\.csv is not a valid CSV file/],
    ] as const) {
      await choose(name, Buffer.from(bytes));
      if (name === 'windows-1252.csv') await page.getByRole('button', { name: 'No', exact: true }).click();
      await page.getByText(message).waitFor();
    }
  });

  it('is read as Windows-1252, which Excel writes, after the user has seen its letters', async t => {
    const { page, choose, list, imported } = await openImport(await visit(t), { name: 'Excel' });
    const file = Buffer.from('sep=;\nname;category;;\nRex;Excel;;\nM\xfcller \x80;Excel;;\n', 'latin1');
    await choose('excel.csv', file);
    const question = page.getByRole('region', { name: 'Are all letters right?' });
    await question.waitFor();
    assert.deepEqual(await question.getByRole('listitem').allTextContents(), ['Müller €;Excel;;']);
    const error = page.getByText('excel.csv is not UTF-8 text: line 4 has bytes');
    assert.equal(await error.count(), 0, 'the question is enough');
    await question.getByRole('button', { name: 'No' }).click();
    await error.waitFor();
    await question.waitFor({ state: 'detached' });
    await choose('excel.csv', file);
    await question.getByRole('button', { name: 'Yes, read it like that' }).click();
    await imported(2);
    assert.equal((await list())[0].name, 'Müller €');
  });

  for (const order of ['little', 'big'])
    it(`is read as UTF-16 of ${order}-endian bytes if it begins like that, as the “Unicode text” of Excel`, async t => {
      const { page, choose } = await openImport(await visit(t));
      const bytes = Buffer.from('\ufeffName\tKategorie\nMüller\tHunde\n', 'utf16le');
      await choose('unicode.txt', order === 'big' ? bytes.swap16() : bytes);
      await page.getByText('0 of 1 row can be imported').waitFor();
      assert.equal(await page.getByLabel('Name of line 2').inputValue(), 'Müller');
    });

  it('imports a pending animal without stock with an order that holds its unit', async t => {
    const { api, choose, list, imported } = await openImport(await visit(t), { name: 'Held' });
    await choose('held.csv', 'name,category,status,quantity\nRex,Held,pending,0\n');
    await imported(1);
    const [pet] = await list();
    assert.deepEqual(await stockOf(api, pet.id), ['pending', 0]);
    const { body: orders } = await api.get(`/store/orders?petId=${pet.id}`);
    assert.deepEqual(orders, [{ id: orders[0].id, petId: pet.id, quantity: 1, complete: false }]);
  });

  it('does not replace the console when it is dropped elsewhere, and is one file', async t => {
    const { page, choose } = await openImport(await visit(t));
    const csv = 'name,category\nRex,Dogs\n';
    const both = [
      ['one.csv', csv],
      ['two.csv', csv],
    ] as [string, string][];
    assert.ok(await drop(page, 'h1', both));
    assert.ok(await drop(page, '.drop-zone', both));
    await page.getByText('These are 2 files: drop one at a time').waitFor();
    await choose('one.csv', csv);
    await page.getByRole('heading', { name: 'one.csv' }).waitFor();
    assert.ok(await drop(page, 'h1', both), 'also while the columns are chosen');
  });

  it('is the one that was chosen last, even if it is read first', async t => {
    const { page } = await openImport(await visit(t));
    // The first file is read when the test says so.
    await page.evaluate(`const { arrayBuffer } = File.prototype;
      File.prototype.arrayBuffer = async function () {
        File.prototype.arrayBuffer = arrayBuffer;
        await new Promise(resolve => { window.readFirst = resolve; });
        return arrayBuffer.call(this);
      };`);
    for (const name of ['first.csv', 'last.csv'])
      await drop(page, '.drop-zone', [[name, 'name,category\nRex,Dogs\n']]);
    await page.getByText('0 of 1 row can be imported').waitFor();
    await page.evaluate(`readFirst(); new Promise(resolve => {
      // More tasks than reading a file takes.
      const next = count => (count > 0 ? setTimeout(next, 0, count - 1) : resolve());
      next(20);
    })`);
    await page.getByRole('heading', { name: 'last.csv' }).waitFor();
  });

  it('is checked again after another mapping, and what is imported has the last one', async t => {
    const { page, choose, categoryId, list, imported } = await openImport(await visit(t));
    await choose('map.csv', `nickname,name,categoryId\nWanted,Other,${categoryId}\n`);
    await page.getByText('1 of 1 row can be imported').waitFor();
    await page.getByText('Columns: name is Name, categoryId is Category ID').click();
    await page.getByLabel('Field of nickname').selectOption('name');
    await page.getByText('Two columns are the field name: leave one out').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Import 1 row' }).count(), 0);
    await page.getByLabel('Field of name', { exact: true }).selectOption('');
    await imported(1);
    assert.equal((await list())[0].name, 'Wanted');
  });
});
