import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { appendMany } from '../support/many-events.ts';
import { delayResponses, rejectNextRequest } from '../support/page-requests.ts';

const visit = useConsole();

describe('the activity', () => {
  it('appears by itself in sentences with who did it, is filtered, and has the values before and after', async t => {
    const { shop, page, open } = await visit(t);
    // The filter has all keys, and not only the 20 of a page of the service.
    for (let i = 0; i < 20; i++) await shop.clientWith({ name: `Desk ${i}` });
    const client = await shop.clientWith({ scopes: ['pets:read', 'pets:write'] });
    const shown = await open('/activity');
    await shown.row('created the key Test client').first().waitFor();
    await shown.live();
    // A row under the pointer does not move, and the pointer is where the button was that signed in.
    await page.getByRole('heading', { name: 'Activity' }).hover();
    const categoryId = await aCategory(client, { name: 'Seen at once' });
    await shown.row('added the category Seen at once').getByText('Test client').waitFor();
    await shop.api.patch(`/categories/${categoryId}`, { description: 'Changed by the administrator' });
    const changed = shown.row('changed the category Seen at once');
    await changed.getByText('You', { exact: true }).waitFor();

    await changed.getByText('changed the category').click();
    const cells = shown.panel.getByRole('row').filter({ hasText: 'description' }).getByRole('cell');
    await eventually(() => cells.allInnerTexts(), ['–', 'Changed by the administrator']);
    await shown.panel.getByText('Details for programmers').click();
    assert.match((await shown.panel.locator('pre').textContent())!, /"type": "category.updated"/);
    await shown.panel.getByRole('button', { name: 'All changes of Seen at once' }).click();
    await shown.panel.waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).searchParams.get('subject'), `categories/${categoryId}`);
    await eventually(() => shown.row(/./).count(), 2);
    await page.getByLabel('Who').selectOption({ label: 'Test client' });
    await eventually(() => shown.row(/./).count(), 1);
    await page.getByLabel('Kind').selectOption('category.updated');
    await page.getByText('Nothing matches').waitFor();
    await page.getByRole('link', { name: 'Clear the filters' }).click();
    await shown.row('created the key Test client').first().waitFor();
    assert.equal(await page.getByLabel('Who').inputValue(), '');
  });

  it('of an animal is found by its name, with its stock and its orders', async t => {
    const { shop, page, open } = await visit(t);
    const pet = await aPet(shop.api, { name: 'Luna', stock: 26 });
    await aPet(shop.api, { name: 'Other' });
    await anOrder(shop.api, { petId: pet, quantity: 2, complete: true });
    await shop.api.post(`/store/inventory/${pet}/adjustments`, {
      delta: -1,
      reason: 'lost',
      note: 'Ran away',
    });
    const shown = await open('/activity');
    await page.getByLabel('Thing').fill('luna');
    await page.getByRole('option', { name: /Luna/ }).click();
    await shown.row('wrote off as lost 1 of Luna, \u200e24 → 23').getByText('Ran away').waitFor();
    await shown.row('sold 2 of Luna, \u200e26 → 24').waitFor();
    await shown.row('added Luna').waitFor();
    assert.equal(await shown.row('Other').count(), 0);
  });

  it('of an animal with an Arabic name has the earlier number before the later one', async t => {
    const { shop, page, open } = await visit(t);
    const petId = await aPet(shop.api, { name: 'القط الأسود', stock: 26 });
    await anOrder(shop.api, { petId, quantity: 2 });
    const shown = await open(`/activity?subject=pets%2F${petId}`);
    await shown.row('placed order').waitFor();
    // Where the numbers are drawn, from left to right.
    const drawn = await page.evaluate(`(() => {
      const texts = document.createTreeWalker(document.querySelector('[role="row"][data-index]'), NodeFilter.SHOW_TEXT);
      let text = texts.nextNode();
      while (!text.data.includes('26')) text = texts.nextNode();
      const leftOf = part => {
        const range = document.createRange();
        const start = text.data.lastIndexOf(part);
        range.setStart(text, start);
        range.setEnd(text, start + part.length);
        return range.getBoundingClientRect().left;
      };
      return ['26', '→', '24'].toSorted((a, b) => leftOf(a) - leftOf(b));
    })()`);
    assert.deepEqual(drawn, ['26', '→', '24']);
  });

  it('of a category and of what was deleted are found by their names', async t => {
    const { shop, page, open } = await visit(t);
    const rodents = await aCategory(shop.api, { name: 'Rodents' });
    const pet = await aPet(shop.api, { name: 'Zörra the Second', categoryId: rodents });
    await shop.api.delete(`/pets/${pet}`);
    await aPet(shop.api, { name: 'Zorralina' });
    const shown = await open('/activity');
    const field = page.getByLabel('Thing');
    await field.fill('rod');
    await page.getByRole('option', { name: /Rodents.*Category/ }).click();
    await shown.row('added the category Rodents').waitFor();
    await eventually(() => shown.row(/./).count(), 1);

    await field.fill('zorra');
    await eventually(
      () => page.locator('[role=option]').allInnerTexts(),
      ['Zorralina\nAnimal', 'Zörra the Second\nDeleted animal'],
    );
    await page.getByRole('option', { name: /Deleted animal/ }).click();
    await shown.row('deleted Zörra the Second').getByText('You', { exact: true }).waitFor();
    assert.equal(await field.inputValue(), 'Zörra the Second');
    await page.reload();
    await shown.row('deleted Zörra the Second').waitFor();
    await eventually(() => field.inputValue(), 'Zörra the Second');

    // What is deleted after a search is found by the next one. The search has ended when it has read the deletions of both kinds.
    const reads = ['pet.deleted', 'category.deleted'].map(type =>
      page.waitForResponse(response => response.url().includes(`type=${type}`)),
    );
    await field.fill('zorra');
    await page.getByRole('option', { name: /Deleted animal/ }).click();
    for (const response of await Promise.all(reads)) await response.finished();
    await shop.api.delete(`/pets/${await aPet(shop.api, { name: 'Zorro', categoryId: rodents })}`);
    await field.fill('zorro');
    await page.getByRole('option', { name: 'Zorro Deleted animal' }).click();
    await shown.row('deleted Zorro').waitFor();
  });

  it('of what is marked in the suggestions is shown, also when animals are found before it meanwhile', async t => {
    const { shop, page, open } = await visit(t);
    const categoryId = await aCategory(shop.api, { name: 'Markedly' });
    await aPet(shop.api, { name: 'Marked', categoryId });
    await open('/activity');
    const field = page.getByLabel('Thing');
    const { read, arrive } = await delayResponses(page, '**/pets?*');
    await field.fill('marked');
    const options = page.locator('[role=option]');
    await options.filter({ hasText: 'Markedly' }).waitFor();
    await field.press('ArrowDown');
    await read;
    arrive();
    await eventually(() => options.allInnerTexts(), ['Marked\nAnimal', 'Markedly\nCategory']);
    await field.press('Enter');
    await eventually(() => field.inputValue(), 'Markedly');
  });

  it('of an animal that was deleted is found from its address', async t => {
    const { shop, open, watch } = await visit(t);
    // Its stock.
    watch.expect(/status of 404/);
    const pet = await aPet(shop.api, { name: 'Oskar' });
    await shop.api.delete(`/pets/${pet}`);
    const shown = await open(`/animals/${pet}`);
    await shown.panel.getByText('There is no such animal. It may have been deleted.').waitFor();
    await shown.panel.getByRole('link', { name: 'What happened to it' }).click();
    await shown.row('deleted Oskar').waitFor();
    await shown.row('added Oskar').waitFor();
  });

  it('waits while the list is paused, or while the pointer is on it', async t => {
    const { shop, page, open } = await visit(t);
    const other = await aCategory(shop.api, { name: 'Without news' });
    const category = await aCategory(shop.api, { name: 'Still' });
    const shown = await open(`/activity?subject=categories/${category}`);
    const renamed = shown.row('renamed');
    await shown.row('added').waitFor();
    await shown.live();
    await page.getByRole('heading', { name: 'Activity' }).hover();
    await shown.button('Pause').click();
    await shop.api.patch(`/categories/${category}`, { name: 'Still there' });
    await shown.button('1 new').waitFor();
    assert.equal(await renamed.count(), 0);
    // It is new in this list, and not in another one.
    await shown.go(`/activity?subject=categories/${other}`);
    await shown.row('Without news').waitFor();
    assert.equal(await shown.button('1 new').count(), 0);
    await shown.go(`/activity?subject=categories/${category}`);
    await shown.button('1 new').click();
    await renamed.waitFor();
    await shown.button('Continue').click();
    await shop.api.patch(`/categories/${category}`, { name: 'Still here' });
    await eventually(() => renamed.count(), 2);

    await renamed.first().hover();
    await shop.api.patch(`/categories/${category}`, { name: 'Still' });
    await shown.button('1 new').waitFor();
    assert.equal(await renamed.count(), 2);
    await page.getByRole('heading', { name: 'Activity' }).hover();
    await eventually(() => renamed.count(), 3);
  });

  it('that happens while the list is read again is shown next', async t => {
    const { shop, page, open } = await visit(t);
    const category = await aCategory(shop.api, { name: 'First' });
    const shown = await open(`/activity?subject=categories/${category}`);
    await shown.row('added').waitFor();
    await shown.live();
    await page.getByRole('heading', { name: 'Activity' }).hover();
    await shown.button('Pause').click();
    await shop.api.patch(`/categories/${category}`, { name: 'Second' });
    // The response is complete before the next change, and arrives after its event.
    const { read, arrive } = await delayResponses(page, '**/history?*');
    await shown.button('1 new').click();
    await read;
    await shown.button('1 new').waitFor({ state: 'detached' });
    await shop.api.patch(`/categories/${category}`, { name: 'Third' });
    await shown.button('1 new').waitFor();
    arrive();
    await shown.row('First to Second').waitFor();
    assert.equal(await shown.row('Second to Third').count(), 0);
    await shown.button('1 new').click();
    await shown.row('Second to Third').waitFor();
  });

  it('that happens while the list is read again after an error is shown as well', async t => {
    const { shop, openWithClock } = await visit(t);
    const category = await aCategory(shop.api, { name: 'Before' });
    const shown = await openWithClock(`/activity?subject=categories/${category}`);
    const { page } = shown;
    await shown.row('added').waitFor();
    await shown.live();
    const { read, arrive } = await delayResponses(page, '**/history?*');
    await rejectNextRequest(page, '**/history?*');
    await shop.api.patch(`/categories/${category}`, { name: 'Unread' });
    // The response is complete before the next change, and arrives after its event.
    await read;
    await shown.button('1 new').waitFor({ state: 'detached' });
    await shop.api.patch(`/categories/${category}`, { name: 'Read last' });
    await shown.button('1 new').waitFor();
    await page.clock.runFor(1_000);
    assert.equal(await shown.button('1 new').count(), 1, 'it is not read before the list');
    arrive();
    await shown.row('Unread to Read last').waitFor();
  });

  it('of a burst has no gap, and the rows of a paused list stay', async t => {
    const { shop, page, open } = await visit(t);
    const category = await aCategory(shop.api, { name: 'Busy' });
    const subject = `categories/${category}`;
    const shown = await open(`/activity?subject=${subject}`);
    await shown.row('added').waitFor();
    await shown.live();
    await page.getByRole('heading', { name: 'Activity' }).hover();
    await shown.button('Pause').click();
    const data = JSON.stringify({ id: category, name: 'Busy' });
    await appendMany(shop.app, 1_200, { type: 'category.updated', subject, data });
    await shown.button('1,000+ new').waitFor();
    assert.equal(await shown.row(/./).count(), 1);
    await shown.button('Continue').click();
    const table = page.getByRole('grid', { name: 'Activity' });
    const rowCount = () => table.getAttribute('aria-rowcount');
    // The header is a row as well. The old row does not follow, because changes are between.
    await eventually(rowCount, '101');
    await table.locator('.table-body').evaluate(element => element.scrollTo(0, element.scrollHeight));
    await eventually(rowCount, '201');
    assert.equal(await shown.row('added').count(), 0);
  });

  it('of a burst has no gap if a further page is read meanwhile', async t => {
    const { shop, page, open } = await visit(t);
    const id = await aCategory(shop.api, { name: 'Early' });
    const subject = `categories/${id}`;
    const change = (count: number, name: string) =>
      appendMany(shop.app, count, { type: 'category.updated', subject, data: JSON.stringify({ id, name }) });
    await change(150, 'Early');
    const shown = await open(`/activity?subject=${subject}`);
    await shown.row('Early').first().waitFor();
    await shown.live();
    const table = page.getByRole('grid', { name: 'Activity' });
    const scroll = () =>
      table.locator('.table-body').evaluate(element => element.scrollTo(0, element.scrollHeight));
    const { read, arrive } = await delayResponses(page, '**/history?*cursor=*');
    await scroll();
    await read;
    await change(120, 'Late');
    await shown.button('120 new').click();
    await shown.row('Late').first().waitFor();
    arrive();
    // The header, all changes, and the creation.
    await eventually(async () => {
      await scroll();
      return table.getAttribute('aria-rowcount');
    }, '272');
  });

  it('is filtered by a day that is typed', async t => {
    const { shop, page, open } = await visit(t);
    await aCategory(shop.api);
    const shown = await open('/activity');
    await shown.row('added the category').first().waitFor();
    await page.getByLabel('From').press('1');
    for (const key of ['2', '2', '4', '2', '0', '2', '5']) {
      await page.keyboard.press(key);
      // The URL follows the field in a transition, in which React writes the earlier value.
      await page.evaluate('new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)))');
    }
    const from = new Date('2025-12-24T00:00').toISOString();
    await eventually(async () => new URL(page.url()).searchParams.get('from'), from);
    assert.equal(await page.getByLabel('From').inputValue(), '2025-12-24');
    await shown.row('added the category').first().waitFor();
    await page.getByLabel('From').press('Delete');
    await eventually(async () => new URL(page.url()).search, '');
  });

  it('is filtered by one of several keys that have the same name', async t => {
    const { shop, page, open } = await visit(t);
    for (const change of ['First of two', 'Second of two'])
      await aCategory(await shop.clientWith({ name: 'Same name' }), { name: change });
    const shown = await open('/activity');
    await shown.row('added the category Second of two').waitFor();
    const options = page.getByLabel('Who').locator('option', { hasText: 'Same name' });
    await eventually(async () => (await options.allInnerTexts()).length, 2);
    const [first = ''] = await options.allInnerTexts();
    assert.match(first, /^Same name \(key \d+\)$/);
    await page.getByLabel('Who').selectOption({ label: first });
    await shown.row('added the category First of two').waitFor();
    await eventually(() => shown.row(/./).count(), 1);
  });

  it('is offered only for what the key may read', async t => {
    const { shop, page, open } = await visit(t);
    const { key } = await shop.clientWith({ scopes: ['pets:read', 'events:read'] });
    await aCategory(shop.api);
    const shown = await open('/activity', key);
    await shown.row('added the category').first().waitFor();
    await aPet(shop.api, { name: 'Seen' });
    await shown.row('added Seen').waitFor();
    const offered = await page
      .locator('select[aria-label="Kind"] optgroup')
      .evaluateAll(groups => groups.map(group => group.getAttribute('label')));
    assert.deepEqual(offered, ['Animals', 'Categories', 'Restored backups']);
    assert.equal(await shown.row(/the key|stock/).count(), 0);
    await shown.row('added Seen').getByText('Administrator').waitFor();
  });
});
