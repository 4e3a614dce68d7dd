import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually, stopClock } from '../support/browser.ts';
import { ConsolePage, useConsole } from '../support/console-page.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { rejectNextRequest } from '../support/page-requests.ts';

const visit = useConsole();

/** The browser allows six connections to a service. */
const TABS = 7;

/** Hides the tab of a page, or shows it again. */
const hide = (page: Page, isHidden: boolean) =>
  page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'))`);

describe('several tabs of one user', () => {
  it('all work and show changes at once, with one stream for all', async t => {
    const { shop, context, watch, open } = await visit(t);
    const categoryId = await aCategory(shop.api);
    const id = await aPet(shop.api, { name: 'Everywhere', categoryId });
    const path = `/animals?categoryId=${categoryId}`;
    const tabs = [await open(path)];
    while (tabs.length < TABS)
      tabs.push(await ConsolePage.openIn(await context.newPage(), path, shop.adminKey));
    for (const tab of tabs) await tab.live();
    await shop.api.patch(`/pets/${id}`, { name: 'Renamed everywhere' });
    for (const tab of tabs) await tab.row('Renamed everywhere').waitFor();
    assert.equal(watch.urls.filter(url => url.includes('/events/stream')).length, 1);
  });

  it('miss and repeat no event when the tab that reads the stream closes', async t => {
    const { shop, page, context, watch, open } = await visit(t);
    const id = await aPet(shop.api, { name: 'Changing hands' });
    const reading = await open('/categories');
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

  it('read what they have missed, and ignore what comes again', async t => {
    const { shop, anotherVisitor } = await visit(t);
    const categoryId = await aCategory(shop.api);
    const [first, second] = [
      await aPet(shop.api, { name: 'First', categoryId }),
      await aPet(shop.api, { name: 'Second', categoryId }),
    ];
    const rename = (id: number, name: string) => shop.api.patch(`/pets/${id}`, { name });
    const path = `/animals?categoryId=${categoryId}`;
    const visitor = await anotherVisitor();
    const page = await visitor.newPage();
    await page.addInitScript(`globalThis.isLost = false;
      const { postMessage } = BroadcastChannel.prototype;
      BroadcastChannel.prototype.postMessage = function (message) {
        if (!this.name.includes('.events.')) return postMessage.call(this, message);
        globalThis.sent = message;
        globalThis.send = message => postMessage.call(this, message);
        if (!isLost) send(message);
      };`);
    const reading = await ConsolePage.openIn(page, path, shop.adminKey);
    await reading.live();
    const other = await ConsolePage.openIn(await visitor.newPage(), path, shop.adminKey);
    await other.row('First').waitFor();
    await other.live();
    await page.evaluate('isLost = true');
    await rename(first, 'Lost');
    await reading.row('Lost').waitFor();
    await page.evaluate('isLost = false');
    await rename(second, 'Arrived');
    await other.row('Arrived').waitFor();
    await other.row('Lost').waitFor();
    await rename(first, 'Earlier');
    await other.row('Earlier').waitFor();
    await page.evaluate('globalThis.earlier = sent; undefined');
    await rename(first, 'Newest');
    await other.row('Newest').waitFor();
    // After the one that comes again there is another event, which shows that the tab has processed it.
    await page.evaluate(`send(earlier);
      const { after, event } = sent;
      const data = { ...event.data, id: ${second}, name: 'Last' };
      send({ after, event: { ...event, id: String(Number(event.id) + 1), data } });`);
    await other.row('Last').waitFor();
    assert.equal(await other.row('Newest').count(), 1);
  });

  it('follow nothing while they are hidden for long, and have everything when they are shown again', async t => {
    const { shop, openWithClock } = await visit(t);
    await aCategory(shop.api);
    const reading = await openWithClock('/categories');
    const { page } = reading;
    await reading.row(/./).first().waitFor();
    await reading.live();
    const other = await ConsolePage.openIn(await page.context().newPage(), '/categories', shop.adminKey);
    await other.row(/./).first().waitFor();
    await other.live();
    await hide(other.page, true);
    await page.clock.fastForward(30_000);
    for (const number of [1, 2]) {
      await aCategory(shop.api);
      await reading.button(`${number} new`).waitFor();
    }
    assert.equal(await other.button(/ new$/).count(), 0);
    await hide(other.page, false);
    await other.button('2 new').waitFor();
  });

  it('are live again when they are shown after the service has rejected their stream', async t => {
    const { shop, page, watch, open } = await visit(t);
    watch.expect(/status of 403/);
    const isOfStream = ({ pathname }: URL) => pathname === '/events/stream';
    await rejectNextRequest(page, isOfStream, 403);
    const shown = await open('/categories');
    await shown.messages.getByText('Made up').waitFor();
    await aCategory(shop.api);
    await hide(page, false);
    await shown.button('1 new').waitFor();
  });

  it('keep their stream when they are hidden for less than half a minute', async t => {
    const { shop, openWithClock } = await visit(t);
    await aCategory(shop.api);
    const shown = await openWithClock('/categories');
    const { page } = shown;
    await shown.row(/./).first().waitFor();
    await shown.live();
    await stopClock(page);
    await hide(page, true);
    await page.clock.fastForward(29_000);
    await hide(page, false);
    await page.clock.fastForward(29_000);
    await page.clock.resume();
    await aCategory(shop.api);
    await shown.button('1 new').waitFor();
  });

  it('share nothing with a tab of another key', async t => {
    const { shop, page, context, watch, open } = await visit(t);
    const { key } = await shop.clientWith({ scopes: ['pets:read', 'events:read'] });
    const administrator = await open('/activity');
    await administrator.live();
    // Otherwise the tab would continue the session of the first one.
    await page.evaluate('localStorage.clear()');
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
