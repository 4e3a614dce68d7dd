// Takes the screenshots of the README, in docs/screenshots. With a directory as argument it takes those of every page of the
// console and the portal instead, on a desktop and a phone, in light and dark colours. It starts its own service with the demo shop.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { Client } from '../service/test/support/client.ts';
import { buildConsole } from '../service/test/support/console-page.ts';
import { scenes, showScene } from '../service/test/support/console-scenes.ts';
import { type ConsoleShop, workInDemoShop } from '../service/test/support/console-shop.ts';
import { openBrowser } from '../service/test/support/launch-browser.ts';
import { PortalPage } from '../service/test/support/portal-page.ts';
import { Replica } from './servers/replica.ts';

const root = dirname(import.meta.dirname);
const [target] = process.argv.slice(2);
const pictures = target ?? join(root, 'docs/screenshots');

const screens = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
} satisfies Record<string, BrowserContextOptions>;

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

/** What there is to see, by name. */
const everything: Record<string, Show> = {
  'console-sign-in': page => page.goto('/console'),
  ...Object.fromEntries(Object.keys(scenes).map(name => [`console-${nameOfFile(name)}`, ofConsole(name)])),
  'portal-start': ofPortal(''),
  'portal-guide': ofPortal('/guide/webhooks'),
  'portal-quickstart': ofPortal('/guide/quickstart'),
  'portal-operation': ofPortal('/operations/createPet'),
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
  for (const [name, show] of Object.entries(target === undefined ? ofReadme : inAllForms(everything))) {
    const [screen, colorScheme] = name.split('-').slice(-2) as [keyof typeof screens, 'light' | 'dark'];
    const settings = { baseURL, colorScheme, locale: 'en-GB', timezoneId: 'UTC' } as const;
    const context = await browser.newContext({ ...settings, ...screens[screen] });
    const page = await context.newPage();
    await show(page, shop, key);
    await page.screenshot({ path: join(pictures, `${name}.png`), animations: 'disabled' });
    await context.close();
  }
} finally {
  await browser?.close();
  await service.stop();
  rmSync(directory, { recursive: true });
}

/** The same on each screen, in light and in dark colours. */
function inAllForms(shows: Record<string, Show>): Record<string, Show> {
  const forms = Object.keys(screens).flatMap(screen => [`${screen}-light`, `${screen}-dark`]);
  return Object.fromEntries(
    Object.entries(shows).flatMap(([name, show]) => forms.map(form => [`${name}-${form}`, show])),
  );
}
