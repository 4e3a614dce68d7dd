import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Locator } from 'playwright-core';
import { eventually } from '../support/browser.ts';
import { type ConsolePage, useConsole } from '../support/console-page.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { assertFollowsTheme } from '../support/plot-colors.ts';

/** The time of both the service and the browser. The service starts 40 days earlier: the log is in the order of time. */
const NOW = '2026-12-31T12:00:00Z';
const DAY = 86_400_000;

/** The days on which the orders of `aMonth` are placed, in days before now. */
const placedBefore = [40, 29, 27, 8, 7, 1, 1, 0];

/** Opens the page Today of a shop with open orders of 40 days. */
async function aMonth(t: TestContext, visit: ReturnType<typeof useConsole>) {
  const visited = await visit(t);
  const { api, page, shop } = visited;
  const { clock } = shop;
  const categoryId = await aCategory(api, { name: 'Month' });
  const petId = await aPet(api, { name: 'Popular', stock: 50, categoryId });
  await aPet(api, { name: 'Rare', stock: 2, categoryId });
  const ids: number[] = [];
  for (const days of placedBefore) {
    clock.set(new Date(Date.parse(NOW) - days * DAY).toISOString());
    ids.push(await anOrder(api, { petId }));
  }
  clock.set(NOW);
  await page.clock.setFixedTime(NOW);
  const shown = await visited.open('/');
  await eventually(() => numberIn(linkTo(shown, 'Open orders')), '8');
  return { ...visited, shown, ids, petId };
}

const linkTo = ({ page }: ConsolePage, text: string) =>
  page
    .getByRole('main')
    .getByRole('link')
    .filter({ hasText: new RegExp(text.replace('+', '\\+')) });

async function numberIn(link: Locator): Promise<string> {
  return (await link.locator('strong, small').textContent()) ?? '';
}

describe('the figures of Today', () => {
  const visit = useConsole({ timezoneId: 'UTC' });

  it('lead to lists with as many rows as they say and are live', async t => {
    const { shown, page, shop, ids, petId } = await aMonth(t, visit);
    const { api } = shop;
    await shown.live();
    await api.patch(`/store/orders/${ids[3]}`, { complete: true });
    await api.delete(`/store/orders/${ids[4]}`);
    await anOrder(api, { petId, complete: true });
    const figures = async () => {
      const names = ['Open orders', 'Before today', '7+ days old', '28+ days old'];
      const others = ['Orders of the last 30 days', 'Low stock', 'Available', 'Pending', 'Sold'];
      return Promise.all([...names, ...others].map(name => numberIn(linkTo(shown, name))));
    };
    const expected = ['6', '5', '3', '2', '7', '1', '2', '0', '0'];
    await eventually(figures, expected);
    await page.locator('.orders-plot canvas').waitFor();
    await page.getByText('Dec 31, 2026: 2 orders').waitFor();
    const plot = '.orders-plot canvas';
    await page.emulateMedia({ colorScheme: 'light' });
    await assertFollowsTheme(page, plot, 'accent', () => page.emulateMedia({ colorScheme: 'dark' }));
    await assertFollowsTheme(page, plot, 'accent', async () => {
      await shown.button('Theme').press('Enter');
      await page.getByRole('menuitemradio', { name: 'Light' }).press('Enter');
    });

    const links = ['Open orders', 'Before today', '7+ days old', '28+ days old'];
    const lists = [...links, 'Orders of the last 30 days', '2 orders', 'Low stock', 'Available', 'Sold'];
    const rows: Record<string, number> = {};
    for (const name of lists) {
      await linkTo(shown, name).click();
      await page.getByRole('heading', { name: 'Today' }).waitFor({ state: 'detached' });
      await page.locator('[data-index], .empty').first().waitFor();
      rows[name] = await page.locator('[data-index]').count();
      await page.goBack();
      await page.getByRole('heading', { name: 'Today' }).waitFor();
    }
    assert.deepEqual(rows, {
      'Open orders': 6,
      'Before today': 5,
      '7+ days old': 3,
      '28+ days old': 2,
      'Orders of the last 30 days': 7,
      '2 orders': 2,
      'Low stock': 1,
      Available: 2,
      Sold: 0,
    });
  });
});

describe('the days of Today', () => {
  const visit = useConsole({ timezoneId: 'Pacific/Auckland' });

  it('are those of the time zone of the user', async t => {
    const { shop, page, open } = await visit(t);
    const petId = await aPet(shop.api, { name: 'Midnight', stock: 9 });
    // 23:59 on 31 December and 0:01 on 1 January.
    const ids: number[] = [];
    for (const time of ['10:59', '11:01', '11:02']) {
      shop.clock.set(`2026-12-31T${time}:00Z`);
      ids.push(await anOrder(shop.api, { petId }));
    }
    shop.clock.set(NOW);
    await page.clock.setFixedTime(NOW);
    const shown = await open('/');
    await eventually(() => numberIn(linkTo(shown, 'Before today')), '1');
    await linkTo(shown, 'Before today').click();
    await eventually(() => page.locator('[data-column="id"] strong').allTextContents(), [String(ids[0])]);
    await page.goBack();
    await linkTo(shown, '2 orders').click();
    const newest = [String(ids[2]), String(ids[1])];
    await eventually(() => page.locator('[data-column="id"] strong').allTextContents(), newest);
  });
});
