import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { eventually, useBrowser } from '../support/browser.ts';
import { buildConsole, ConsolePage } from '../support/console-page.ts';
import { aCategory, aPet } from '../support/factories.ts';

const visit = useBrowser();
before(buildConsole);

/** The browser allows six connections to a service. */
const TABS = 7;

describe('several tabs of one user', () => {
  it('all work and show changes at once, with one stream for all', async t => {
    const visited = await visit(t);
    const { shop, context, watch } = visited;
    const categoryId = await aCategory(shop.api);
    const id = await aPet(shop.api, { name: 'Everywhere', categoryId });
    const path = `/animals?categoryId=${categoryId}`;
    const tabs = [await ConsolePage.open(visited, path)];
    while (tabs.length < TABS)
      tabs.push(await ConsolePage.openIn(await context.newPage(), path, shop.adminKey));
    for (const tab of tabs) await tab.live();
    await shop.api.patch(`/pets/${id}`, { name: 'Renamed everywhere' });
    for (const tab of tabs) await tab.row('Renamed everywhere').waitFor();
    assert.equal(watch.urls.filter(url => url.includes('/events/stream')).length, 1);
  });

  it('miss and repeat no event when the tab that reads the stream closes', async t => {
    const visited = await visit(t);
    const { shop, context, page, watch } = visited;
    const id = await aPet(shop.api, { name: 'Changing hands' });
    const reading = await ConsolePage.open(visited, '/categories');
    await reading.live();
    const isStream = (url: string) => url.includes('/events/stream');
    await eventually(async () => watch.urls.some(isStream), true);
    const path = `/activity?subject=pets%2F${id}&type=pet.updated`;
    const others = [];
    for (let i = 0; i < 2; i++) {
      const other = await ConsolePage.openIn(await context.newPage(), path, shop.adminKey);
      await other.live();
      await other.page.getByText('Nothing matches').waitFor();
      others.push(other);
    }
    const change = (number: number) => shop.api.patch(`/pets/${id}`, { name: `Changed ${number}` });
    const changes = 12;
    await page.evaluate('sessionStorage.clear()');
    for (let number = 0; number < changes; number++) {
      // The tab closes while changes happen.
      if (number === 4) await Promise.all([change(number), page.goto('about:blank')]);
      else await change(number);
    }
    for (const other of others) {
      const shown = () => other.row('renamed').count();
      await eventually(shown, changes);
    }
    assert.equal(watch.urls.filter(isStream).length, 2, 'one of the others reads the stream now');
    // A doubled event would appear as another row before the next one.
    await change(changes);
    for (const other of others) await eventually(() => other.row('renamed').count(), changes + 1);
  });

  it('share nothing with a tab of another key', async t => {
    const visited = await visit(t);
    const { shop, context, watch } = visited;
    const { key } = await shop.clientWith({ scopes: ['pets:read', 'events:read'] });
    const administrator = await ConsolePage.open(visited, '/activity');
    await administrator.live();
    const other = await ConsolePage.openIn(await context.newPage(), '/activity', key);
    await other.live();
    await eventually(async () => watch.urls.filter(url => url.includes('/events/stream')).length, 2);
    await shop.clientWith({ scopes: ['pets:read'] });
    await aPet(shop.api, { name: 'After the key' });
    await administrator.row('created the key').first().waitFor();
    await other.row('added After the key').first().waitFor();
    assert.equal(await other.row('created the key').count(), 0);
  });
});
