import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { asksToLeave, eventually } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, stockOf } from '../support/factories.ts';
import { drop, openImport } from '../support/import-page.ts';
import { beforeNextRequest, holdRequests, interceptRequests } from '../support/page-requests.ts';

const visit = useConsole();

describe('an import', () => {
  it('checks all rows before it writes, imports the good ones once, and offers the others as a file', async t => {
    const { api, page, choose, list, download } = await openImport(await visit(t), { name: 'Imported dogs' });
    const rows = [
      '"Rex; ""the"" dog";imported dogs;3;brown',
      ';Imported dogs;1;black',
      'Max;Unknown kind;1;"a\r\nb"',
    ];
    const lines = ['\ufeffPet Name;Species;Stock;Colour', ...rows, 'Old;Imported dogs;0;grey'];
    await choose('animals.csv', lines.join('\r\n'));
    await page.getByText('2 of 4 rows can be imported').waitFor();
    assert.equal(await page.getByLabel('Field of Species').inputValue(), 'category');
    assert.equal(await page.getByLabel('Field of Colour').inputValue(), '');
    const problems = page.getByRole('table').last().locator('tr + tr');
    assert.deepEqual(await problems.allTextContents(), [
      'name: write 1 to 200 characters',
      'There is no category "Unknown kind": correct the name, or let the import create it',
    ]);
    assert.deepEqual(await list(), [], 'nothing is written before the user agrees');

    // A double click.
    await page.getByRole('button', { name: 'Import 2 rows' }).evaluate(element => {
      element.click();
      element.click();
    });
    await page.getByText('Created 2 animals, rejected 2 rows.').waitFor();
    const message = page.locator('.toast').filter({ hasText: 'Imported 2 animals, rejected 2 rows' });
    assert.equal(await message.getAttribute('data-tone'), 'warning');
    const [old, rex, ...more] = await list();
    assert.deepEqual([old.name, rex.name, more], ['Old', 'Rex; "the" dog', []]);
    assert.deepEqual(await stockOf(api, rex.id), ['available', 3]);
    assert.deepEqual(await stockOf(api, old.id), ['sold', 0]);

    const [name, rejected] = await download('Download 2 rows');
    assert.equal(name, 'animals.rejected.csv');
    assert.match(
      rejected,
      /^\ufeffline;code;message;Pet Name;Species;Stock;Colour\r\n3;invalid_request;name: write 1 to 200 characters;;Imported dogs;1;black\r\n4;unknown_category;.*;Max;Unknown kind;1;"a\r\nb"\r\n$/,
    );
  });

  it('imports a dropped file with columns that the user maps, and creates missing categories', async t => {
    const { api, page, imported } = await openImport(await visit(t));
    await drop(page, '.drop-zone', [['dropped.csv', 'Who,Where\nNova,Created by an import\n']]);
    await page.getByText('Choose the column with the names').waitFor();
    await page.getByLabel('Field of Who').selectOption('name');
    await page.getByText('Choose the column with the categories').waitFor();
    await page.getByLabel('Field of Where').selectOption('category');
    await page.getByText('0 of 1 row can be imported').waitFor();
    await page.getByLabel('Create categories that are missing').click();
    await page.getByText('1 of 1 row can be imported').waitFor();
    await imported(1);
    const [category] = (await api.get('/categories?name=Created%20by%20an%20import')).body;
    assert.equal((await api.get(`/pets?categoryId=${category.id}`)).body[0].name, 'Nova');
  });

  it('keeps the focus on the page when the button that has it disappears', async t => {
    const { page, choose, categoryId } = await openImport(await visit(t), { name: 'Keyboard' });
    await choose('one.csv', `name,categoryId\nBy keyboard,${categoryId}\n`);
    const focused = () => page.evaluate('document.activeElement.ariaLabel');
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Import 1 row' }).press('Enter');
    await page.getByText('Created 1 animal').waitFor();
    await eventually(focused, 'Import');
    await page.getByRole('button', { name: 'Undo the import' }).press('Enter');
    await page.getByText('Deleted all animals of the import').waitFor();
    await eventually(focused, 'Import');
  });

  it('reports rows that the service rejects, and imports the others', async t => {
    const { api, page, choose, categoryId, download, imported } = await openImport(await visit(t));
    const lost = await aCategory(api);
    // The category is deleted after all checks of the console.
    await beforeNextRequest(page, '**/batch', () => api.delete(`/categories/${lost}`));
    await choose('ids.csv', `name,categoryId\nStays,${categoryId}\nFails,${lost}\n`);
    await imported(2, 1, 1);
    const [, rejected] = await download('Download 1 row');
    assert.match(rejected, new RegExp(`\r\n3,[a-z_]+,.*,Fails,${lost}\r\n$`));
  });

  it('lists a row once whose category is deleted after the check', async t => {
    const { api, page, choose, imported } = await openImport(await visit(t), { name: 'Stays here' });
    const lost = await aCategory(api, { name: 'Deleted at last' });
    await choose('names.csv', 'name,category\nStays,Stays here\nFails,Deleted at last\n');
    await page.getByText('2 of 2 rows can be imported').waitFor();
    await api.delete(`/categories/${lost}`);
    await imported(2, 1, 1);
  });

  it('reports animals whose stock the service rejects, and undo deletes them as well', async t => {
    const { page, choose, list, imported } = await openImport(await visit(t), { name: 'Half' });
    await interceptRequests(
      page,
      '**/batch',
      route =>
        route.continue({ postData: route.request().postData()!.replace('"quantity":3', '"quantity":-1') }),
      { times: 1 },
    );
    await choose('half.csv', 'name,category,quantity\nRex,Half,3\nMia,Half,2\n');
    await imported(2);
    await page.getByRole('region', { name: 'Created without their stock' }).getByText('Line 2').waitFor();
    await page.getByRole('button', { name: 'Undo the import' }).click();
    await page.getByText('Deleted all animals of the import.').waitFor();
    assert.deepEqual(await list(), []);
  });

  it('continues while the user is on another page, and only while it runs the tab warns before it closes and takes no other file', async t => {
    const { page, importRows } = await openImport(await visit(t));
    const release = await holdRequests(page, '**/batch');
    assert.equal(await asksToLeave(page), false);
    await importRows(1);
    await page.getByText('0 of 1 row done').waitFor();
    const another = page.getByText('Choose another file');
    assert.equal(await another.count(), 0);
    await page.getByRole('link', { name: 'Categories' }).click();
    await page.getByRole('heading', { name: 'Categories' }).waitFor();
    assert.equal(await asksToLeave(page), true);
    release();
    await page.locator('.toasts').getByText('Imported 1 animal').waitFor();
    assert.equal(await asksToLeave(page), false);
    await page.goBack();
    await page.getByText('Created 1 animal').waitFor();
    await another.waitFor();
  });

  it('waits at the limit, and continues in the next minute', async t => {
    const { shop, page, importRows, count } = await openImport(await visit(t), { limited: true });
    await importRows(40);
    await page.locator('.banner').waitFor();
    const done = await count();
    assert.ok(done > 0 && done < 40, `${done} rows were imported before the limit`);
    // Half of the requests of a minute are left to the lists, so it takes some minutes.
    await eventually(async () => {
      shop.clock.advance(60_000);
      await page.clock.fastForward(80_000);
      return count();
    }, 40);
    await page.getByText('Created 40 animals, rejected 0 rows.').waitFor();
  });

  it('is stopped while it waits for the limit, and offers the rows that were not reached', async t => {
    const { page, importRows, count, download } = await openImport(await visit(t), { limited: true });
    await importRows(40);
    await page.locator('.banner').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page
      .getByText(
        /^Created \d+ animals, rejected 0 rows\. \d+ rows were not imported, because you stopped the import\.$/,
      )
      .waitFor();
    const done = await count();
    assert.ok(done > 0 && done < 40);
    const [, rejected] = await download(`Download ${40 - done} rows`);
    assert.match(rejected, new RegExp(`,stopped,The import was stopped before this row,Row ${done},`));
  });

  it('is stopped while it creates categories, creates no more of them, and is undone', async t => {
    const { api, page, choose } = await openImport(await visit(t));
    const release = await holdRequests(page, '**/categories');
    await choose('kinds.csv', 'name,category\nRex,First kind\nMia,Second kind\n');
    await page.getByLabel('Create categories that are missing').click();
    await page.getByRole('button', { name: 'Import 2 rows' }).click();
    await page.getByRole('button', { name: 'Stop' }).click();
    release();
    await page
      .getByText(
        'Created 0 animals, rejected 0 rows. 2 rows were not imported, because you stopped the import.',
      )
      .waitFor();
    const created = async (name: string) => (await api.get(`/categories?name=${name}`)).body.length;
    assert.deepEqual([await created('First%20kind'), await created('Second%20kind')], [1, 0]);
    await page.getByRole('button', { name: 'Undo the import' }).click();
    await eventually(() => created('First%20kind'), 0);
  });

  it('is stopped during an outage, and still counts the batch that the service has executed', async t => {
    const visited = await visit(t);
    visited.watch.expect(/ERR_FAILED/);
    const { page, importRows, count } = await openImport(visited);
    let isStopped = false;
    await interceptRequests(page, '**/batch', async route => {
      const response = await route.fetch();
      await (isStopped ? route.fulfill({ response }) : route.abort());
    });
    await importRows(2);
    await page.getByText('The service cannot be reached').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    isStopped = true;
    await page.getByText('Created 2 animals, rejected 0 rows.').waitFor();
    assert.equal(await count(), 2);
  });

  it('ends when the user signs out', async t => {
    const { page, importRows, count } = await openImport(await visit(t));
    const release = await holdRequests(page, '**/batch');
    await importRows(250);
    await page.getByText('0 of 250 rows done').waitFor();
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByText('Sign out').click();
    await page.getByLabel('API key').waitFor();
    const sent = page.waitForResponse('**/batch');
    release();
    await (await sent).finished();
    // What would be sent next is sent before a request that is made now.
    await page.evaluate("fetch('/healthz').then(response => response.text())");
    assert.equal(await count(), 100, 'only the batch that was sent');
    assert.equal(await page.evaluate('sessionStorage.length'), 0, 'the next user finds nothing to undo');
  });
});
