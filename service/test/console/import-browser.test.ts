import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/axe-check.ts';
import { useBrowser } from '../support/browser.ts';
import { buildConsole, ConsolePage } from '../support/console-page.ts';
import { aCategory, stockOf } from '../support/factories.ts';

const visit = useBrowser();
before(buildConsole);

const choose = (page: Page, name: string, text: string) =>
  page.getByLabel('CSV file').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });

async function downloadOf(page: Page, button: string): Promise<[name: string, text: string]> {
  const started = page.waitForEvent('download');
  await page.getByRole('button', { name: button }).click();
  const download = await started;
  return [download.suggestedFilename(), await text(await download.createReadStream())];
}

describe('an import', () => {
  it('checks all rows before it writes, imports the good ones, and offers the others as a file', async t => {
    const visited = await visit(t);
    const { api } = visited.shop;
    const categoryId = await aCategory(api, { name: 'Imported dogs' });
    const list = async () => (await api.get(`/pets?categoryId=${categoryId}&sort=name`)).body;
    const { page } = await ConsolePage.open(visited, '/import');
    await choose(
      page,
      'animals.csv',
      [
        'Pet Name;Species;Stock;Colour',
        'Rex;imported dogs;3;brown',
        ';Imported dogs;1;black',
        'Max;Unknown kind;1;white',
        'Old;Imported dogs;0;grey',
      ].join('\r\n'),
    );
    await page.getByText('2 of 4 rows can be imported').waitFor();
    assert.equal(await page.getByLabel('Field of Species').inputValue(), 'category');
    assert.equal(await page.getByLabel('Field of Colour').inputValue(), '');
    const problems = page.getByRole('region', { name: 'Would be rejected' }).getByRole('listitem');
    assert.deepEqual(await problems.allTextContents(), [
      'Line 3 name: is missing. Write 1 to 200 characters',
      'Line 4 There is no category "Unknown kind": correct the name, or let the import create it',
    ]);
    assert.deepEqual(await list(), [], 'nothing is written before the user agrees');

    await page.getByRole('button', { name: 'Import 2 rows' }).click();
    await page.getByText('Created 2 animals, rejected 2 rows.').waitFor();
    const [old, rex] = await list();
    assert.deepEqual([old.name, rex.name], ['Old', 'Rex']);
    assert.deepEqual(await stockOf(api, rex.id), ['available', 3]);
    assert.deepEqual(await stockOf(api, old.id), ['sold', 0]);

    const [name, text] = await downloadOf(page, 'Download 2 rows');
    assert.equal(name, 'animals.rejected.csv');
    const [header, ...rows] = text.trimEnd().split('\r\n');
    assert.equal(header, 'line;code;message;Pet Name;Species;Stock;Colour');
    assert.equal(
      rows[0],
      '3;invalid_request;name: is missing. Write 1 to 200 characters;;Imported dogs;1;black',
    );
    assert.match(rows[1]!, /^4;unknown_category;.*;Max;Unknown kind;1;white$/);
  });

  it('imports a dropped file with columns that the user maps, and creates missing categories', async t => {
    const visited = await visit(t);
    const { api } = visited.shop;
    const { page } = await ConsolePage.open(visited, '/import');
    await page.locator('.drop-zone').evaluate(zone => {
      const { DataTransfer, DragEvent, File } = zone.ownerDocument.defaultView;
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['Who,Where\nNova,Created by an import\n'], 'dropped.csv'));
      zone.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }));
    });
    await page.getByText('Choose the column with the names').waitFor();
    await page.getByLabel('Field of Who').selectOption('name');
    await page.getByText('Choose the column with the categories').waitFor();
    await page.getByLabel('Field of Where').selectOption('category');
    await page.getByText('0 of 1 row can be imported').waitFor();
    await page.getByLabel('Create categories that are missing').click();
    await page.getByText('1 of 1 row can be imported').waitFor();
    await page.getByRole('button', { name: 'Import 1 row' }).click();
    await page.getByText('Created 1 animal, rejected 0 rows.').waitFor();
    const [category] = (await api.get('/categories?name=Created%20by%20an%20import')).body;
    const pets = (await api.get(`/pets?categoryId=${category.id}`)).body;
    assert.deepEqual(
      pets.map(({ name }: { name: string }) => name),
      ['Nova'],
    );
  });

  it('reports rows that the service rejects, and imports the others', async t => {
    const visited = await visit(t);
    const { api } = visited.shop;
    const [kept, lost] = [await aCategory(api), await aCategory(api)];
    const { page } = await ConsolePage.open(visited, '/import');
    // The category is deleted after all checks of the console.
    await page.route('**/batch', async route => {
      await api.delete(`/categories/${lost}`);
      await route.continue();
    });
    await choose(page, 'ids.csv', `name,categoryId\nStays,${kept}\nFails,${lost}\n`);
    await page.getByRole('button', { name: 'Import 2 rows' }).click();
    await page.getByText('Created 1 animal, rejected 1 row.').waitFor();
    const [, text] = await downloadOf(page, 'Download 1 row');
    assert.match(text, new RegExp(`\r\n3,[a-z_]+,.*,Fails,${lost}\r\n$`));
  });

  it('continues while the user is on another page', async t => {
    const visited = await visit(t);
    const categoryId = await aCategory(visited.shop.api);
    const { page } = await ConsolePage.open(visited, '/import');
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/batch', async route => {
      await isReleased;
      await route.continue();
    });
    await choose(page, 'slow.csv', `name,categoryId\nSlow,${categoryId}\n`);
    await page.getByRole('button', { name: 'Import 1 row' }).click();
    await page.getByText('0 of 1 row done').waitFor();
    await page.getByRole('link', { name: 'Categories' }).click();
    await page.getByRole('heading', { name: 'Categories' }).waitFor();
    release();
    await page.locator('.toasts').getByText('Imported 1 animal').waitFor();
    await page.goBack();
    await page.getByText('Created 1 animal').waitFor();
  });

  it('rejects a file that it cannot read with the problem and the remedy', async t => {
    const visited = await visit(t);
    const { page } = await ConsolePage.open(visited, '/import');
    await choose(page, 'open.csv', 'name,category\n"Rex,Dogs\n');
    await page.getByText(/open\.csv is not a valid CSV file/).waitFor();
    await page
      .getByLabel('CSV file')
      .setInputFiles({ name: 'old.csv', mimeType: 'text/csv', buffer: Buffer.from([0x4d, 0xfc]) });
    await page.getByText(/old\.csv is not UTF-8 text/).waitFor();
  });

  it('has no serious violation of accessibility, with and without a file', async t => {
    const { page } = await ConsolePage.open(await visit(t), '/import');
    await page.getByLabel('CSV file').waitFor({ state: 'attached' });
    await assertAccessible(page);
    await choose(page, 'bad.csv', 'name,category,colour\nRex,No such category,brown\n');
    await page.getByText('0 of 1 row can be imported').waitFor();
    await assertAccessible(page);
  });
});
