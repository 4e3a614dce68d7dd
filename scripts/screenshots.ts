// Takes the screenshots of the README, in docs/screenshots. With a directory as argument it takes those of every page of the
// console and the portal instead, on two desktops and a phone, in light and dark colours; with a word as second argument only the
// pages whose names have it. It starts its own service with the demo shop.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { Client } from '../service/test/support/client.ts';
import { buildConsole, ConsolePage } from '../service/test/support/console-page.ts';
import { scenes, showScene } from '../service/test/support/console-scenes.ts';
import { type ConsoleShop, workInDemoShop } from '../service/test/support/console-shop.ts';
import { openBrowser } from '../service/test/support/launch-browser.ts';
import { PortalPage } from '../service/test/support/portal-page.ts';
import { Replica } from './servers/replica.ts';

const root = dirname(import.meta.dirname);
const [target, only = ''] = process.argv.slice(2);
const pictures = target ?? join(root, 'docs/screenshots');

/** The devices, each with the widths of its window in pixels. */
const devices = {
  desktop: { widths: [1280, 1440], options: { viewport: { width: 1280, height: 800 } } },
  phone: {
    widths: [390],
    options: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  },
} satisfies Record<string, { widths: readonly number[]; options: BrowserContextOptions }>;

const colorSchemes = ['light', 'dark'] as const;

/** The console reads the account of its key when it opens. A key can do that 60 times a minute, and the console then waits. */
const TIMEOUT = 90_000;

/** Shows something in an empty page, to an administrator. */
type Show = (page: Page, shop: ConsoleShop, key: string) => Promise<unknown>;

const ofConsole =
  (scene: string): Show =>
  (page, shop, key) =>
    showScene(page, scene, shop, key);

const ofPortal =
  (path: string): Show =>
  page =>
    new PortalPage(page).open(path);

/** The pictures in docs/screenshots. */
const ofReadme: Record<string, Show> = {
  'console-desktop-light': ofConsole('today'),
  'console-desktop-dark': ofConsole('animals: one'),
  'portal-desktop-light': showResponse,
  'portal-desktop-dark': ofPortal('/operations/placeOrder'),
};

/** The lists of the console, and what their responses begin with. */
const lists: Record<string, string> = {
  animals: 'pets?',
  orders: 'store/orders?',
  stock: 'store/inventory?',
  categories: 'categories?',
  activity: 'history?',
  keys: 'keys?',
  webhooks: 'webhooks?',
};

/** A list that is loading, is empty or cannot be read. */
const ofState =
  (list: string, state: 'loading' | 'empty' | 'error'): Show =>
  async (page, _shop, key) => {
    await page.route(`**/${lists[list]}*`, route => {
      if (state === 'error') return route.fulfill({ status: 500, json: failure });
      return state === 'empty' ? route.fulfill({ json: [] }) : undefined;
    });
    await ConsolePage.openIn(page, `/${list}`, key);
    const text = state === 'error' ? page.getByText(failure.message).first() : page.locator('.empty');
    await (state === 'loading' ? page.locator('.skeleton').first() : text).waitFor();
  };

const failure = { code: 'internal_error', message: 'The service failed', status: 500 };

/** What there is to see, by name. */
const everything: Record<string, Show> = {
  'console-sign-in': page => page.goto('/console'),
  ...Object.fromEntries(Object.keys(scenes).map(name => [`console-${nameOfFile(name)}`, ofConsole(name)])),
  ...Object.fromEntries(
    Object.keys(lists).flatMap(list =>
      (['loading', 'empty', 'error'] as const).map(state => [
        `console-${list}-${state}`,
        ofState(list, state),
      ]),
    ),
  ),
  'portal-start': ofPortal(''),
  'portal-guide': ofPortal('/guide/webhooks'),
  'portal-quickstart': ofPortal('/guide/quickstart'),
  'portal-operation': ofPortal('/operations/createPet'),
  'portal-operation-without-form': ofPortal('/operations/listOrders'),
  'portal-recipes': ofPortal('/guide/recipes'),
  'portal-going-live': ofPortal('/guide/going-live'),
  'portal-resource': ofPortal('/resources/orders'),
  'portal-errors': ofPortal('/errors'),
  'portal-events': ofPortal('/events'),
  'portal-client': ofPortal('/client'),
  'portal-status': ofPortal('/status'),
  'portal-changelog': ofPortal('/changelog'),
  'portal-response': showResponse,
};

function nameOfFile(scene: string): string {
  return scene.replaceAll(/\W+/g, '-');
}

/** Tries out an operation. */
async function showResponse(page: Page, _shop: ConsoleShop, key: string): Promise<void> {
  const portal = new PortalPage(page);
  await portal.openOperation('listPets');
  await portal.useKey(key);
  await portal.tryOut({ parameters: { limit: 3 } });
}

buildConsole();
const directory = mkdtempSync(join(tmpdir(), 'petstore-screenshots-'));
const environment = {
  PATH: process.env.PATH,
  PETSTORE_DRAIN_SECONDS: '0',
  PETSTORE_DATA: directory,
  PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true',
};
const service = new Replica(1, environment, { args: ['--demo'] });
let browser: Browser | undefined;
try {
  await service.start();
  const baseURL = `http://127.0.0.1:${service.port}`;
  const key = readFileSync(join(directory, 'admin.key'), 'utf8').trim();
  const shop = await workInDemoShop(new Client(baseURL, key));
  browser = await openBrowser();
  mkdirSync(pictures, { recursive: true });
  const take = taker(browser, baseURL, (show, page) => show(page, shop, key));
  if (target === undefined)
    for (const [name, show] of Object.entries(ofReadme)) {
      const colorScheme = name.endsWith('dark') ? 'dark' : 'light';
      await take(show, devices.desktop.options, [{ name, width: 1280, colorScheme }]);
    }
  else
    for (const [name, show] of Object.entries(everything).filter(([name]) => name.includes(only)))
      for (const { widths, options } of Object.values(devices)) {
        const forms = widths.flatMap(width =>
          colorSchemes.map(colorScheme => ({ name: `${name}-${width}-${colorScheme}`, width, colorScheme })),
        );
        await take(show, options, forms);
      }
} finally {
  await browser?.close();
  await service.stop();
  rmSync(directory, { recursive: true });
}

interface Form {
  /** Of its file. */
  name: string;
  width: number;
  colorScheme: (typeof colorSchemes)[number];
}

/** Returns a function that takes pictures of what a page shows, which it opens once for all of them. */
function taker(browser: Browser, baseURL: string, open: (show: Show, page: Page) => Promise<unknown>) {
  return async (show: Show, options: BrowserContextOptions, forms: readonly Form[]) => {
    const context = await browser.newContext({ baseURL, locale: 'en-GB', timezoneId: 'UTC', ...options });
    context.setDefaultTimeout(TIMEOUT);
    const page = await context.newPage();
    await page.emulateMedia({ colorScheme: forms[0]!.colorScheme, reducedMotion: 'reduce' });
    await open(show, page);
    for (const { name, width, colorScheme } of forms) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ ...page.viewportSize()!, width });
      // Plots are drawn again in the next frames.
      await page.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))');
      await page.screenshot({ path: join(pictures, `${name}.png`), animations: 'disabled' });
    }
    await context.close();
  };
}
