import type { Page } from 'playwright-core';
import { fillEmptyStore } from '../../src/demo/demo-shop.ts';
import { MINUTE } from '../../src/kit/clock.ts';
import type { Visit } from './browser.ts';
import { ConsolePage } from './console-page.ts';
import { type ConsoleShop, workInDemoShop } from './console-shop.ts';
import { interceptRequests } from './page-requests.ts';
import type { TestApp } from './test-app.ts';

/** Something that the console shows to a user who has signed in. */
interface Scene {
  /** Below `/console`. */
  path: string | ((shop: ConsoleShop) => string);
  /** What the user does there. Resolves when all of it is shown. */
  show: (shown: ConsolePage) => Promise<unknown>;
}

const rows = (shown: ConsolePage) => shown.row(/./).first().waitFor();

const csv = (...lines: string[]) => ({
  name: 'animals.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(lines.join('\n')),
});

/** A row of an animal that no earlier visit has imported. */
let visits = 0;
const goodRow = () => `Whippet ${++visits},Dogs,1`;

const chooseFile = (shown: ConsolePage, ...lines: string[]) =>
  shown.page.getByLabel('CSV file').setInputFiles(csv('name,category,quantity', ...lines));

const ask = async (shown: ConsolePage, button: string) => {
  await shown.panel.getByRole('button', { name: button, exact: true }).click();
  await shown.question.waitFor();
};

const openMenu = async (shown: ConsolePage, button: RegExp) => {
  await shown.button(button).first().click();
  await shown.page.locator('.menu:popover-open').waitFor();
};

const selectTwo = async (shown: ConsolePage) => {
  await rows(shown);
  const boxes = shown.page.getByRole('checkbox', { name: /^Select (?!all)/ });
  for (const i of [0, 1]) await boxes.nth(i).click();
  await shown.button('Change …').waitFor();
};

/** All pages and panels of the console with what opens in them, by the page and what is different from its first view. */
export const scenes: Record<string, Scene> = {
  today: {
    path: '/',
    show: async ({ page }) => {
      await page.getByRole('region', { name: 'Recent activity' }).getByRole('listitem').first().waitFor();
      await page.locator('.plot svg').waitFor();
    },
  },
  'today: low stock': {
    path: '/',
    show: async shown => {
      await shown.button('Thresholds').click();
      await shown.panel.getByLabel('Dogs').waitFor();
    },
  },
  animals: { path: '/animals', show: rows },
  'animals: nothing found': {
    path: '/animals?q=unicorn',
    show: ({ page }) => page.getByText('No animal matches').waitFor(),
  },
  'animals: menu of a status': {
    path: '/animals',
    show: shown => openMenu(shown, /^Status of .*: Available$/),
  },
  'animals: views': { path: '/animals?status=sold', show: shown => openMenu(shown, /^Views/) },
  'animals: add': { path: '/animals/new', show: shown => shown.field('Name').waitFor() },
  'animals: one': {
    path: shop => `/animals/${shop.pet}`,
    show: shown => shown.panel.getByRole('button', { name: 'Delete' }).waitFor(),
  },
  'animals: rejected': {
    path: '/animals/new',
    show: async shown => {
      await shown.field('Name').fill(' ');
      await shown.panel.getByRole('button', { name: 'Add' }).click();
      await shown.panel.locator('.field-error').first().waitFor();
    },
  },
  'animals: question': { path: shop => `/animals/${shop.pet}`, show: shown => ask(shown, 'Delete') },
  'animals: selected': { path: '/animals', show: selectTwo },
  'animals: bulk edit': {
    path: '/animals?status=available',
    show: async shown => {
      await selectTwo(shown);
      await shown.button('Change …').click();
      await shown.panel.getByLabel('New status').selectOption('pending');
      await shown.panel.getByText('2 animals will be changed').waitFor();
    },
  },
  orders: { path: '/orders', show: rows },
  'orders: menu of a status': {
    path: '/orders',
    show: shown => openMenu(shown, /^Status of order .*: Open$/),
  },
  'orders: selected': {
    path: '/orders?complete=false',
    show: async shown => {
      await rows(shown);
      const boxes = shown.page.getByRole('checkbox', { name: /^Select order/ });
      for (const i of [0, 1]) await boxes.nth(i).click();
      await shown.button('Complete 2').waitFor();
    },
  },
  'orders: place': {
    path: '/orders/new',
    show: async shown => {
      await shown.field('Animal').fill('luna');
      await shown.page.getByRole('option').first().waitFor();
    },
  },
  'orders: one': {
    path: shop => `/orders/${shop.order}`,
    show: shown => shown.panel.getByRole('button', { name: 'Save' }).waitFor(),
  },
  stock: { path: '/stock', show: rows },
  'stock: edit': {
    path: '/stock?status=available',
    show: async ({ page }) => {
      await page
        .getByRole('button', { name: /^Stock of / })
        .first()
        .click();
      await page.getByLabel('Units in stock').waitFor();
    },
  },
  'stock: count': {
    path: '/stock',
    show: async shown => {
      await rows(shown);
      await shown.button('Count').click();
      await shown.page
        .getByLabel(/^Counted of/)
        .first()
        .waitFor();
    },
  },
  categories: { path: '/categories', show: rows },
  'categories: add': { path: '/categories/new', show: shown => shown.field('Name').waitFor() },
  'categories: one': {
    path: shop => `/categories/${shop.category}`,
    show: shown => shown.panel.getByRole('button', { name: 'Delete' }).waitFor(),
  },
  import: {
    path: '/import',
    show: ({ page }) => page.getByLabel('CSV file').waitFor({ state: 'attached' }),
  },
  'import: checked': {
    path: '/import',
    show: async shown => {
      await chooseFile(shown, goodRow(), ',Cats,1', 'Nessie,Sea monsters,1');
      await shown.page.getByText('1 of 3 rows can be imported').waitFor();
    },
  },
  'import: existing': {
    path: '/import',
    show: async shown => {
      const row = goodRow();
      await chooseFile(shown, row, row);
      await shown.page.getByText('1 of 2 rows can be imported').waitFor();
      await shown.button(/^Exist already/).click();
    },
  },
  'import: question': {
    path: '/import',
    show: async shown => {
      const buffer = Buffer.from('name;category\nB\xe4r;Dogs\nM\xfcller;Cats\n', 'latin1');
      await shown.page
        .getByLabel('CSV file')
        .setInputFiles({ name: 'excel.csv', mimeType: 'text/csv', buffer });
      await shown.page.getByText('Are all letters right?').waitFor();
    },
  },
  'import: running': {
    path: '/import',
    show: async shown => {
      // No response arrives.
      await interceptRequests(shown.page, '**/batch', () => {}, { times: 1 });
      await chooseFile(shown, goodRow());
      await shown.button('Import 1 row').click();
      await shown.page.getByText('0 of 1 row done').waitFor();
    },
  },
  'import: done': {
    path: '/import',
    show: async shown => {
      await chooseFile(shown, goodRow(), ',Cats,1');
      await shown.button('Import 1 row').click();
      await shown.page.getByText('Created 1 animal').waitFor();
    },
  },
  'import: undone': {
    path: '/import',
    show: async shown => {
      await chooseFile(shown, goodRow());
      await shown.button('Import 1 row').click();
      await shown.button('Undo the import').click();
      await shown.page.getByText('Deleted all animals of the import').waitFor();
    },
  },
  activity: { path: '/activity', show: rows },
  'activity: one': {
    path: '/activity?type=order.updated',
    show: async shown => {
      await shown.row('changed order').first().click();
      await shown.panel.locator('table').waitFor();
    },
  },
  webhooks: { path: '/webhooks', show: rows },
  'webhooks: add': { path: '/webhooks/new', show: shown => shown.field('URL').waitFor() },
  'webhooks: one': {
    path: shop => `/webhooks/${shop.webhook}`,
    show: shown => shown.panel.getByRole('button', { name: 'Replay' }).waitFor(),
  },
  'webhooks: question': { path: shop => `/webhooks/${shop.webhook}`, show: shown => ask(shown, 'Replay') },
  'webhooks: deliveries': { path: shop => `/webhooks/${shop.webhook}/deliveries`, show: rows },
  'webhooks: delivery': {
    path: shop => `/webhooks/${shop.webhook}/deliveries`,
    show: async shown => {
      await shown
        .row(/^Webhook \d+ test/)
        .first()
        .click();
      await shown.panel.getByRole('heading', { name: /^Webhook \d+ test$/ }).waitFor();
    },
  },
  keys: { path: '/keys', show: rows },
  'keys: create': { path: '/keys/new', show: shown => shown.field('Name').waitFor() },
  'keys: leaked': {
    path: '/keys/leaked',
    show: shown => shown.panel.getByLabel(/^Secrets/).waitFor(),
  },
  'keys: secret': {
    path: '/keys/new',
    show: async shown => {
      await shown.field('Name').fill('Till');
      await shown.panel.getByRole('button', { name: 'Create' }).click();
      await shown.panel.getByText('It cannot be shown again').waitFor();
    },
  },
  'keys: one': {
    path: shop => `/keys/${shop.key}`,
    show: shown => shown.panel.locator('.plot svg').waitFor(),
  },
  'keys: question': { path: shop => `/keys/${shop.key}`, show: shown => ask(shown, 'Rotate the secret') },
  'this key': {
    path: '/account',
    show: ({ page }) => page.getByRole('button', { name: 'Request' }).waitFor(),
  },
  'this key: leaked': {
    path: '/account/leaked',
    show: shown => shown.panel.getByLabel(/^Secrets/).waitFor(),
  },
  palette: {
    path: '/categories',
    show: async ({ page }) => {
      await page.getByRole('button', { name: /^Find/ }).click();
      await page.getByRole('combobox', { name: /^Find/ }).fill('lu');
      await page.getByRole('option', { name: /Luna/ }).waitFor();
    },
  },
  till: {
    path: '/categories',
    show: async shown => {
      await shown.page.getByRole('heading', { name: 'Categories' }).waitFor();
      await shown.page.keyboard.press('s');
      await shown.question.getByLabel('Animal').fill('luna');
      await shown.page.getByRole('option').first().waitFor();
    },
  },
  shortcuts: {
    path: '/categories',
    show: async shown => {
      await shown.page.getByRole('heading', { name: 'Categories' }).waitFor();
      await shown.page.keyboard.press('?');
      await shown.panel.getByText('Show the shortcuts').waitFor();
    },
  },
  'no page': { path: '/nowhere', show: ({ page }) => page.getByText('Page not found').waitFor() },
};

const shops = new WeakMap<TestApp, Promise<ConsoleShop>>();

/** Signs in and shows a scene of the demo shop, after a morning of work. */
export async function openScene(visited: Visit, name: string): Promise<ConsolePage> {
  const { path, show } = scenes[name]!;
  const { shop } = visited;
  const { app, api, clock } = shop;
  if (!shops.has(shop))
    shops.set(
      shop,
      fillEmptyStore(app.db, clock.now()).then(() => workInDemoShop(api)),
    );
  const ids = await shops.get(shop)!;
  // Each visit reads `/account`, which counts against the address.
  clock.advance(MINUTE);
  const shown = await ConsolePage.open(visited, typeof path === 'string' ? path : path(ids));
  await show(shown);
  return shown;
}

/** Signs in and shows a scene in a page of any service with the demo shop, whose IDs are `ids`. */
export async function showScene(page: Page, name: string, ids: ConsoleShop, key: string): Promise<void> {
  const { path, show } = scenes[name]!;
  await show(await ConsolePage.openIn(page, typeof path === 'string' ? path : path(ids), key));
}
