import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { anOrder, aPet } from '../support/factories.ts';
import { appendMany } from '../support/many-events.ts';
import { interceptRequests } from '../support/page-requests.ts';
import { assertFollowsTheme } from '../support/plot-colors.ts';

/** The time of both the service and the browser. */
const NOW = '2026-12-31T12:00:00Z';

describe('Today of a new shop', () => {
  const visit = useConsole({ timezoneId: 'Pacific/Auckland' });

  it('says how to begin, until the first animal is added', async t => {
    const { api, page, open } = await visit(t);
    const shown = await open('/');
    await shown.live();
    const beginning = page.getByRole('heading', { name: 'There are no animals yet' });
    await beginning.waitFor();
    await aPet(api);
    await beginning.waitFor({ state: 'detached' });
  });

  it('reads the latest 2,000 changes of stock, and does not say that nothing is low if there are more', async t => {
    const { api, page, open } = await visit(t);
    await aPet(api);
    let pages = 0;
    await interceptRequests(page, '**/history?*type=inventory.updated*', async route => {
      pages++;
      const response = await route.fetch();
      const entry = { type: 'inventory.updated', subject: 'store/inventory/9', changes: [] };
      const next = new URL(route.request().url());
      next.searchParams.set('cursor', String(pages));
      await route.fulfill({
        response,
        json: Array(1_000).fill(entry),
        headers: { ...response.headers(), link: `<${next.pathname}${next.search}>; rel="next"` },
      });
    });
    await open('/');
    await page.getByText('none of the latest 2,000 changes of stock has left an animal low').waitFor();
    assert.equal(pages, 2);
  });

  it('has a plot as soon as there are orders of two days, which are those of the time zone of the user, and leads to them', async t => {
    const { shop, page, open } = await visit(t);
    const petId = await aPet(shop.api, { name: 'Midnight', stock: 9 });
    // 23:59 on 31 December and 0:01 on 1 January.
    const ids: number[] = [];
    const plot = page.getByRole('region', { name: 'Orders of the last 30 days' });
    const place = async (time: string) => {
      shop.clock.set(`2026-12-31T${time}:00Z`);
      ids.push(await anOrder(shop.api, { petId }));
    };
    await place('10:59');
    await page.clock.setFixedTime('2026-12-31T10:59:30Z');
    const shown = await open('/');
    await page.getByRole('region', { name: 'Recent activity' }).getByRole('listitem').first().waitFor();
    assert.equal(await plot.count(), 0);
    await place('11:01');
    await place('11:02');
    shop.clock.set(NOW);
    await page.clock.setFixedTime(NOW);
    await page.reload();
    await plot.getByText('Jan 1, 2027: 2 orders').waitFor();
    assert.equal(await plot.locator('.plot-date').first().innerText(), 'Dec 3');
    await assertFollowsTheme(page, '.plot', 'accent', () => page.emulateMedia({ colorScheme: 'dark' }));
    await assertFollowsTheme(page, '.plot', 'accent', async () => {
      await shown.button('Theme and rows').press('Enter');
      await page.getByRole('menuitemradio', { name: 'Light' }).press('Enter');
    });
    await plot.getByRole('link', { name: '2 orders' }).click();
    const rows = page.locator('[data-column="id"] strong');
    await eventually(() => rows.allTextContents(), [String(ids[2]), String(ids[1])]);
    await page.goBack();
    await plot.getByRole('link', { name: 'Orders of the last 30 days' }).click();
    await eventually(() => rows.count(), 3);
    await page.goBack();
    await plot.waitFor();
    await place('13:00');
    await plot.getByText('Jan 1, 2027: 3 orders').waitFor();
  });
});

// A shop of its own: the times of events only grow.
describe('Today after many changes', () => {
  const visit = useConsole();

  it('finds the old holds among new ones, however many animals are on hold or have changed', async t => {
    const { api, page, shop, open } = await visit(t);
    const { clock } = shop;
    const hold = async (name: string, stock = 1) => {
      await api.patch(`/pets/${await aPet(api, { name, stock })}`, { status: 'pending' });
    };
    clock.set('2026-12-22T12:00:00Z');
    await hold('Held for long');
    clock.set('2026-12-29T12:00:00Z');
    // As an import creates it.
    await aPet(api, { name: 'Held from the start', status: 'pending' });
    for (let i = 0; i < 20; i++) await hold('Held lately', 2);
    await appendMany(shop.app, 1_000);
    clock.set(NOW);
    await page.clock.setFixedTime(NOW);
    await open('/');
    const holds = page.getByRole('region', { name: '1 animal on hold for more than a week' });
    await holds.getByRole('link', { name: 'Held for long' }).waitFor();
  });

  it('has a plot with cancelled orders after 1,000 of them, and each day leads to its orders in the activity', async t => {
    const { page, shop, open } = await visit(t);
    for (const [day, orders] of [
      ['2027-01-02', 997],
      ['2027-01-03', 3],
    ] as const) {
      shop.clock.set(`${day}T12:00:00Z`);
      await appendMany(shop.app, orders, { type: 'order.placed', subject: 'store/orders/1' });
    }
    await page.clock.setFixedTime(shop.clock.now());
    await open('/');
    const plot = page.getByRole('region', { name: 'Orders of the last 30 days' });
    await plot.getByText('Placed, with cancelled ones').waitFor();
    await plot.getByRole('link', { name: '3 orders' }).click();
    await eventually(() => page.getByRole('grid', { name: 'Activity' }).locator('[data-index]').count(), 3);
  });
});
