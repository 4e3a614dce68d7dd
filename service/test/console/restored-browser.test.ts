import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually, keepMessages, stopClock } from '../support/browser.ts';
import { ConsolePage, useConsole } from '../support/console-page.ts';
import { settledCursor } from '../support/event-log.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { openImport } from '../support/import-page.ts';
import { delayResponses } from '../support/page-requests.ts';
import { continueLogOf, restoreLog } from '../support/restored-log.ts';
import { openStock } from '../support/stock-page.ts';

const visit = useConsole();

describe('the console while the service is restored', () => {
  it('reads everything again, shows no lost event, and follows the new range', async t => {
    const { shop, watch, open } = await visit(t);
    watch.expect(/status of 410/);
    const shown = await open('/activity');
    await shown.row('created the key').first().waitFor();
    await shown.live();
    const survivor = Number(await settledCursor(shop));
    await aCategory(shop.api, { name: 'Lost later' });
    await shown.row('Lost later').waitFor();
    await restoreLog(shop, survivor);
    await shown.row('restored a backup').waitFor();
    await eventually(() => shown.row('Lost later').count(), 0);
    // The events before the restore are read across the gap.
    await shown.row('created the key').first().waitFor();
    await aCategory(shop.api, { name: 'Kept' });
    await shown.row('Kept').waitFor();
    const rejected = shop.logLines().filter(({ status }) => status === 410);
    assert.equal(rejected.length, 1, 'the console asks once for the events after a lost one');
  });

  it('forgets lost events on Today', async t => {
    const { shop, watch, open } = await visit(t);
    watch.expect(/status of 410/);
    const shown = await open('/');
    await shown.today();
    await shown.live();
    const recent = shown.page.getByRole('region', { name: 'Recent activity' });
    const survivor = Number(await settledCursor(shop));
    await aCategory(shop.api, { name: 'Gone' });
    await recent.getByText('added the category Gone').waitFor();
    await restoreLog(shop, survivor);
    await recent.getByText('restored a backup').waitFor();
    await eventually(() => recent.getByText('added the category Gone').count(), 0);
  });

  it('forgets lost events that it has not shown yet, because a list was being read', async t => {
    const { shop, page, context, watch, open } = await visit(t);
    watch.expect(/status of 410/);
    const id = await aPet(shop.api, { name: 'Stored name' });
    await shop.api.post('/store/orders', { petId: id });
    const shown = await open('/categories');
    await shown.live();
    const other = await ConsolePage.openIn(await context.newPage(), '/animals?q=name', shop.adminKey);
    await other.row('Stored name').waitFor();
    await other.live();
    const survivor = Number(await settledCursor(shop));
    const { read, arrive } = await delayResponses(page, '**/store/orders?*');
    await page.getByRole('link', { name: 'Orders', exact: true }).click();
    await read;
    await shop.api.patch(`/pets/${id}`, { name: 'Lost name' });
    // The first tab has sent the event to the other one, and holds it until its list is read.
    await other.row('Lost name').waitFor();
    await page.evaluate('new Promise(resolve => setTimeout(resolve, 50))');
    await other.page.close();
    await shop.app.db.run('UPDATE pets SET name = ? WHERE id = ?', ['Stored name', id]);
    const again = page.waitForRequest('**/store/orders?*');
    await restoreLog(shop, survivor);
    await again;
    arrive();
    await shown.row('Stored name').waitFor();
    assert.equal(await shown.row('Lost name').count(), 0);
  });

  it('forgets lost events that it was still collecting', async t => {
    const { shop, openWithClock } = await visit(t);
    await aCategory(shop.api, { name: 'Older than the backup' });
    // The stream is opened again without a pause, in which the events would be shown.
    const script = `Math.random = () => 0;
      const { postMessage } = BroadcastChannel.prototype;
      globalThis.received = 0;
      BroadcastChannel.prototype.postMessage = function (...message) { received++; postMessage.apply(this, message); };`;
    const shown = await openWithClock('/categories', { script });
    const { page } = shown;
    await shown.row('Older than the backup').waitFor();
    await shown.live();
    const survivor = Number(await settledCursor(shop));
    await stopClock(page);
    const received = Number(await page.evaluate('received'));
    const id = await aCategory(shop.api, { name: 'Lost at once' });
    await eventually(() => page.evaluate('received'), received + 1);
    await shop.app.db.run('DELETE FROM categories WHERE id = ?', [id]);
    const again: string[] = [];
    page.on('response', response => again.push(new URL(response.url()).pathname));
    await restoreLog(shop, survivor);
    await eventually(async () => {
      await page.clock.runFor(0);
      return again.includes('/categories');
    }, true);
    await page.clock.runFor(1_000);
    // A response is shown by a timer.
    await eventually(async () => {
      await page.clock.runFor(1);
      return shown.row('Older than the backup').isVisible();
    }, true);
    assert.equal(await shown.button('1 new').count(), 0);
  });

  it('reads everything again when log.restored arrives, although it has seen no lost event', async t => {
    const { shop, open } = await visit(t);
    const category = await aCategory(shop.api, { name: 'Newer than the backup' });
    const shown = await open('/categories');
    await shown.row('Newer than the backup').waitFor();
    await shown.live();
    await shop.app.db.run('DELETE FROM categories WHERE id = ?', [category]);
    await continueLogOf(shop);
    await eventually(() => shown.row('Newer than the backup').count(), 0);
  });

  for (const isLost of [true, false])
    it(`offers to undo no earlier action, whose event is ${isLost ? 'lost' : 'kept'}`, async t => {
      const { shop, page, shown, watch } = await openStock(await visit(t), { Adjusted: 4 });
      await page.evaluate(keepMessages);
      await shown.live();
      const survivor = Number(await settledCursor(shop));
      await shown.button('Add one Adjusted').click();
      await shown.messages.getByRole('button', { name: 'Undo' }).waitFor();
      await shown.button('Undo a recent action').waitFor();
      if (isLost) {
        watch.expect(/status of 410/);
        await restoreLog(shop, survivor);
      } else await continueLogOf(shop);
      await shown.button('Undo a recent action').waitFor({ state: 'detached' });
      assert.equal(await shown.messages.getByRole('button', { name: 'Undo' }).count(), 0);
    });

  it('keeps an import that runs, and the selected rows', async t => {
    const visited = await visit(t);
    const { shop, page, importRows, categoryId } = await openImport(visited);
    const shown = new ConsolePage(page);
    const id = await aPet(shop.api, { name: 'Newer name', categoryId });
    const { read, arrive } = await delayResponses(page, '**/batch');
    await importRows(1);
    await read;
    await shown.go(`/animals?categoryId=${categoryId}`);
    await page.getByRole('checkbox', { name: 'Select Newer name' }).click();
    await shown.live();
    await shop.app.db.run('UPDATE pets SET name = ? WHERE id = ?', ['Stored name', id]);
    await continueLogOf(shop);
    await page.getByRole('checkbox', { name: 'Select Stored name', checked: true }).waitFor();
    await shown.go('/import');
    await page.getByText('0 of 1 row done').waitFor();
    arrive();
    await page.getByText('Created 1 animal').waitFor();
  });

  it('checks the rows of a file again, by the names of the restored shop', async t => {
    const visited = await visit(t);
    const { shop, page, choose, categoryId } = await openImport(visited);
    const id = await aPet(shop.api, { name: 'Newer name', categoryId });
    await choose('animals.csv', `name,categoryId\nStored name,${categoryId}\n`);
    await page.getByText('1 of 1 row can be imported').waitFor();
    await new ConsolePage(page).live();
    await shop.app.db.run('UPDATE pets SET name = ? WHERE id = ?', ['Stored name', id]);
    await continueLogOf(shop);
    await page.getByText('The animal of the row exists already').waitFor();
  });
});
