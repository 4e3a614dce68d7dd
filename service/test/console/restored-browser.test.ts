import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { settledCursor } from '../support/event-log.ts';
import { aCategory } from '../support/factories.ts';
import { continueLogOf, restoreLog } from '../support/restored-log.ts';

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
});
