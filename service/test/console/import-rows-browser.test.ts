import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { asksToLeave, eventually, keepMessages, leavesKey } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, stockOf } from '../support/factories.ts';
import { openImport } from '../support/import-page.ts';
import { holdRequests, interceptRequests, rejectNextRequest } from '../support/page-requests.ts';
import { valuesOf } from '../support/values.ts';

const visit = useConsole();

describe('the rows of a file', () => {
  it('can have headers and statuses in German, 3.0 as a number, sep= and ;; at the end', async t => {
    const { api, choose, list, imported } = await openImport(await visit(t), { name: 'Hunde' });
    const rows = ['Ada;Hunde;Verfügbar;3.0;;', 'Bea;Hunde;RESERVIERT;2,0;;', 'Cid;Hunde;ausverkauft;0;;'];
    const lines = ['sep=;', 'Tiername;Kategorie;Zustand;Stückzahl;;', ...rows];
    await choose('supplier.csv', lines.join('\r\n'));
    await imported(3);
    const stock = [];
    for (const { id } of await list()) stock.push(await stockOf(api, id));
    assert.deepEqual(stock, [
      ['available', 3],
      ['pending', 2],
      ['sold', 0],
    ]);
  });

  it('are corrected in place: Enter leads to the next wrong cell, equal categories are corrected together, and an empty status alone', async t => {
    const { api, page, choose, list, cell, imported } = await openImport(await visit(t), { name: 'Parrots' });
    await aCategory(api, { name: 'Owls' });
    await choose(
      'wrong.csv',
      'name,category,status,quantity\nRex,Parots,,many\nMia,Parots,,1\nBo,Parots,,2\nMax,Parrots,lost,1\n,Parrots,,1\nUhu,owls,,1\n',
    );
    await page.getByText('1 of 6 rows can be imported').waitFor();
    assert.equal(await cell('Name', 7).count(), 0, 'a row without a problem is not among them');
    await cell('Quantity', 2).fill('4.0');
    // These keys belong to the word that is composed.
    for (const key of ['Escape', 'Enter']) assert.equal(await leavesKey(page, key, true), true, key);
    assert.equal(await cell('Quantity', 2).inputValue(), '4.0');
    await cell('Quantity', 2).press('Enter');
    // The category of the row was wrong as well, and is found now.
    await cell('Category', 3).and(page.locator(':focus')).waitFor();
    await cell('Category', 3).fill('Parrots');
    await cell('Category', 3).press('Enter');
    await page.getByText('“Parots” is “Parrots” in 2 rows more, too.').waitFor();
    await page.getByText('4 of 6 rows can be imported').waitFor();
    // What was corrected stays where it is.
    assert.equal(await cell('Name', 3).inputValue(), 'Mia');
    assert.deepEqual(await page.getByRole('table').last().locator('tr + tr').allTextContents(), [
      ' Corrected',
      ' Corrected',
      ' Corrected',
      'Write one of Available, On hold, Sold instead of “lost”',
      'name: write 1 to 200 characters',
    ]);
    await cell('Status', 3).fill('On hold');
    await cell('Status', 5).fill('On hold');
    await cell('Status', 5).press('Enter');
    await cell('Name', 6).and(page.locator(':focus')).waitFor();
    await page.keyboard.type('Kea');
    await page.keyboard.press('Enter');
    await imported(6);
    const pets = await list();
    assert.deepEqual(valuesOf(pets, 'name', 'status'), [
      ['Bo', 'available'],
      ['Kea', 'available'],
      ['Max', 'pending'],
      ['Mia', 'pending'],
      ['Rex', 'available'],
    ]);
    assert.deepEqual(await stockOf(api, pets.at(-1).id), ['available', 4]);
  });

  it('have a category corrected that is wrong in all of them, also if something else is wrong in its row', async t => {
    const { page, choose, cell } = await openImport(await visit(t), { name: 'Toucans' });
    await choose(
      'two-faults.csv',
      'name,category,status,quantity\nAnn,Tucans,availab,1\nBob,Tucans,available,1\nCy,Tucans,available,1\n',
    );
    await cell('Category', 2).fill('Toucans');
    await cell('Category', 2).press('Enter');
    await page.getByText('“Tucans” is “Toucans” in 2 rows more, too.').waitFor();
  });

  it('keep a status that is not wrong when it is changed in another row', async t => {
    const { api, page, choose, list, cell, imported } = await openImport(await visit(t), { name: 'Finches' });
    await choose(
      'rule.csv',
      'name,category,status,quantity\nGone,Finches,available,0\nHere,Finches,available,2\nThere,Finches,available,1\n',
    );
    await page.getByText('Write 1 or more, or the status sold').waitFor();
    await cell('Status', 2).fill('sold');
    await cell('Status', 2).press('Enter');
    await imported(3);
    const pets = await list();
    assert.deepEqual(valuesOf(pets, 'name', 'status'), [
      ['Gone', 'sold'],
      ['Here', 'available'],
      ['There', 'available'],
    ]);
    assert.deepEqual(await stockOf(api, pets[1].id), ['available', 2]);
  });

  it('that are wrong take the place of those that were corrected, in a file with more than are shown', async t => {
    const { page, choose, cell } = await openImport(await visit(t), { name: 'Macaws' });
    const rows = Array.from({ length: 101 }, (_, i) => `Row ${i},Macows\n`);
    await choose('long.csv', `name,category\n${rows.join('')},Macaws\n`);
    await page.getByText('… and 2 more').waitFor();
    await cell('Category', 101).fill('Macaws');
    await cell('Category', 101).press('Enter');
    await cell('Name', 103).waitFor();
  });

  it('with too many cells are shown with the reason, and cannot be typed into', async t => {
    const { page, choose, cell } = await openImport(await visit(t), { name: 'Wide' });
    await choose('wide.csv', 'name,category\nRex, the dog,Wide\n');
    await page.getByText('The row has 3 cells, but the header has 2').waitFor();
    assert.equal(await cell('Name', 2).count(), 0);
  });

  it('whose animals exist are shown and skipped, unless the user wants them again', async t => {
    const { api, page, choose, categoryId, list, imported } = await openImport(await visit(t), {
      name: 'Twice',
    });
    await api.post('/pets', { name: 'Zoe\u0308', categoryId });
    const other = await aCategory(api, { name: 'Twice elsewhere' });
    const file = `name,category\nZoë,TWICE\nZoë,Twice elsewhere\nNew,Twice\nNew,Twice\n`;
    await choose('again.csv', file);
    await page.getByText('2 of 4 rows can be imported').waitFor();
    await page.getByRole('button', { name: 'Exist already 2' }).click();
    const lines = page.getByRole('table').last().locator('tbody th');
    assert.deepEqual(await lines.allTextContents(), ['2', '5']);
    await imported(2);
    assert.equal((await list()).length, 2);
    assert.equal((await api.get(`/pets?categoryId=${other}`)).body.length, 1);

    await page.getByLabel('Another CSV file').setInputFiles({
      name: 'again.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(file),
    });
    await page.getByText('The animals of all 4 rows exist already: there is nothing to import.').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Import 0 rows' }).isDisabled());
    await page.getByLabel('Import 4 animals again although they exist already').click();
    await imported(4);
    assert.equal((await list()).length, 5);
  });
});

/** Imports three animals, named in the order of the alphabet, of a category that does not exist yet. Returns what it has created. */
async function importLitter(t: TestContext, file: string, kind: string) {
  const visited = await visit(t);
  const { api, page, choose, imported } = await openImport(visited);
  const rows = [`Held,${kind},pending,0`, `Many,${kind},,7`, `Sold,${kind},sold,0`];
  await choose(`${file}.csv`, `name,category,status,quantity\n${rows.join('\n')}\n`);
  await page.getByLabel('Create categories that are missing').click();
  await imported(3);
  const [category] = (await api.get(`/categories?name=${encodeURIComponent(kind)}`)).body;
  const { body: pets } = await api.get(`/pets?categoryId=${category.id}`);
  return { api, page, watch: visited.watch, category, pets };
}

describe('undoing an import', () => {
  it('deletes the animals with their stock and orders, and the categories that it has created', async t => {
    const { api, page, category, pets } = await importLitter(t, 'gone', 'Undone kind');
    assert.equal(pets.length, 3);
    let batches = 0;
    await interceptRequests(page, '**/batch', route => {
      batches++;
      return route.continue();
    });
    // A double click.
    await page.getByRole('button', { name: 'Undo the import' }).evaluate(element => {
      element.click();
      element.click();
    });
    await page.getByText('Deleted all animals of the import.').waitFor();
    assert.equal(await page.locator('.toasts').getByRole('button', { name: 'Undo' }).count(), 0);
    assert.equal(await page.getByRole('button', { name: 'Undo a recent action' }).count(), 0);
    for (const { id } of pets) {
      assert.deepEqual((await api.get(`/pets?id=${id}`)).body, []);
      assert.deepEqual((await api.get(`/store/orders?petId=${id}`)).body, []);
    }
    assert.equal((await api.get(`/categories/${category.id}`)).status, 404);
    assert.equal(batches, 2, 'one for the animals and one for the category');
  });

  it('is offered again after a reload, until it was undone', async t => {
    const { api, page, category, pets } = await importLitter(t, 'reloaded', 'Reloaded kind');
    await page.reload();
    const earlier = page.getByRole('region', { name: 'Last import: reloaded.csv' });
    await earlier.getByText('It has created 3 animals.').waitFor();
    // What somebody has worked with since stays, as without a reload.
    await api.patch(`/pets/${pets[2].id}`, { name: 'Sold to Anna' });
    const release = await holdRequests(page, '**/batch');
    await earlier.getByRole('button', { name: 'Undo the import' }).click();
    assert.equal(await asksToLeave(page), true, 'the browser asks before the page is left meanwhile');
    release();
    await page.getByText('Deleted 2 animals of the import. What is listed below stays.').waitFor();
    await eventually(() => asksToLeave(page), false);
    const left = await api.get(`/pets?categoryId=${category.id}`);
    assert.deepEqual(valuesOf(left.body, 'name'), ['Sold to Anna']);
    for (const { id } of pets) assert.deepEqual((await api.get(`/store/orders?petId=${id}`)).body, []);
    await page.reload();
    await page.getByText('Drop a CSV file here').waitFor();
    assert.equal(await earlier.count(), 0);
  });

  it('is not offered for one that has created nothing, also after a reload', async t => {
    const { api, page, choose, imported } = await openImport(await visit(t));
    const lost = await aCategory(api, { name: 'Deleted before' });
    await choose('nothing.csv', 'name,category\nFails,Deleted before\n');
    await page.getByText('1 of 1 row can be imported').waitFor();
    await api.delete(`/categories/${lost}`);
    await imported(1, 0, 1);
    assert.equal(await page.getByRole('button', { name: 'Undo the import' }).count(), 0);
    await page.reload();
    await page.getByText('Drop a CSV file here').waitFor();
    assert.equal(await page.getByRole('region', { name: 'Last import: nothing.csv' }).count(), 0);
  });

  it('from its message does not change what the page shows of the next file', async t => {
    const { page, choose, list, imported } = await openImport(await visit(t), { name: 'Two files' });
    await page.evaluate(keepMessages);
    await choose('first.csv', 'name,category\nFirst,Two files\n');
    await imported(1);
    await choose('second.csv', 'name,category\nSecond,Two files\n');
    await page.getByText('1 of 1 row can be imported').waitFor();
    const messages = page.locator('.toasts');
    await messages.getByRole('button', { name: 'Undo' }).click();
    await messages.getByText('Deleted 1 animal of the import').waitFor();
    await imported(1);
    assert.deepEqual(valuesOf(await list(), 'name'), ['Second']);
  });

  it('covers an import that a reload has interrupted, which can be continued instead', async t => {
    const visited = await visit(t);
    visited.watch.expect(/^failed: POST .*\/batch/);
    const { page, count, importRows, choose, categoryId } = await openImport(visited);
    // The second batch does not reach the service, which the page cannot know.
    let batches = 0;
    await interceptRequests(page, '**/batch', route => (++batches === 1 ? route.continue() : undefined));
    await importRows(250);
    await page.getByText('100 of 250 rows done').waitFor();
    page.once('dialog', dialog => dialog.accept());
    await page.reload();
    await page.unroute('**/batch');
    const earlier = page.getByRole('region', { name: 'Last import: rows.csv' });
    await earlier
      .getByText('It was interrupted after 100 of 250 rows and has created 100 animals.')
      .waitFor();
    await earlier.getByText('100 more rows may have created animals').waitFor();
    const lines = Array.from({ length: 250 }, (_, i) => `Row ${i},${categoryId}\n`);
    await choose('rows.csv', `name,categoryId\n${lines.join('')}`);
    await page.getByText('150 of 250 rows can be imported').waitFor();
    await page.reload();
    await earlier.getByRole('button', { name: 'Undo the import' }).click();
    await page
      .getByText('Deleted 100 animals of the import. 100 more rows may have created animals')
      .waitFor();
    assert.equal(await count(), 0);
  });

  it('keeps what somebody has worked with since, and says why, also from the message', async t => {
    const { api, page, choose, list, categoryId, imported } = await openImport(await visit(t), {
      name: 'Kept',
    });
    await page.evaluate(keepMessages);
    await choose(
      'kept.csv',
      'name,category,quantity,status\nA renamed,Kept,1,\nB sold,Kept,5,\nC ordered,Kept,,\nD gone,Kept,1,\nE plain,Kept,3,\nF in new,New of kept,1,\nI in renamed,Renamed of kept,1,\nG collected,Kept,0,pending\nH held,Kept,0,pending\n',
    );
    await page.getByLabel('Create categories that are missing').click();
    await imported(9);
    const [renamed, sold, ordered, gone, , collected, held] = await list();
    await api.patch(`/pets/${renamed.id}`, { name: 'A with another name' });
    await api.post('/store/orders', { petId: sold.id, quantity: 2, complete: true });
    await api.post(`/store/inventory/${ordered.id}/adjustments`, { delta: 1 });
    await api.post('/store/orders', { petId: ordered.id });
    await api.delete(`/pets/${gone.id}`);
    const [order] = (await api.get(`/store/orders?petId=${collected.id}`)).body;
    await api.patch(`/store/orders/${order.id}`, { complete: true });
    await api.patch(`/pets/${held.id}`, { name: 'H with another name' });
    const [created] = (await api.get('/categories?name=New%20of%20kept')).body;
    await api.post('/pets', { name: 'Of somebody else', categoryId: created.id });
    const [other] = (await api.get('/categories?name=Renamed%20of%20kept')).body;
    await api.patch(`/categories/${other.id}`, { name: 'Renamed by a colleague' });
    await page.locator('.toasts').getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Deleted 4 animals of the import. What is listed below stays.').waitFor();
    const kept = page.getByRole('region', { name: 'Not undone' }).getByRole('listitem');
    assert.deepEqual(await kept.allTextContents(), [
      'B sold Its stock has changed since: 3 instead of 5',
      'A renamed It was changed since',
      'C ordered It has open orders',
      'G collected It was changed since',
      'H held It was changed since. Its order was cancelled',
      'New of kept The category has other animals',
      'Renamed of kept It was changed since',
    ]);
    await eventually(async () => (await api.get(`/pets?categoryId=${categoryId}&sort=name`)).body.length, 5);
  });

  it('is offered again after a reload when a batch was rejected', async t => {
    const { api, page, watch, category } = await importLitter(t, 'refused', 'Rejected kind');
    watch.expect(/status of 400/);
    await rejectNextRequest(page, '**/batch');
    await page.getByRole('button', { name: 'Undo the import' }).click();
    await page.getByRole('region', { name: 'Not undone' }).getByText('Made up').waitFor();
    await page.reload();
    await page
      .getByRole('region', { name: 'Last import: refused.csv' })
      .getByRole('button', { name: 'Undo the import' })
      .click();
    await page.getByText('Deleted all animals of the import.').waitFor();
    assert.equal((await api.get(`/categories/${category.id}`)).status, 404);
  });
});
