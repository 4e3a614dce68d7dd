// Takes the screenshots of the portal in docs/screenshots. It starts its own service with the demo shop.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { openBrowser } from '../service/test/support/launch-browser.ts';
import { PortalPage } from '../service/test/support/portal-page.ts';

const root = dirname(import.meta.dirname);
const pictures = join(root, 'docs/screenshots');

const desktop = { viewport: { width: 1440, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

/** The browser options of each picture, and the steps before it is taken. */
const scenes: Record<string, [BrowserContextOptions, (portal: PortalPage, key: string) => Promise<unknown>]> =
  {
    'portal-desktop-light': [desktop, showResponse],
    'portal-desktop-dark': [desktop, portal => portal.openOperation('placeOrder')],
    'portal-start-light': [desktop, portal => portal.open()],
    'portal-guide-dark': [desktop, portal => portal.open('/guide/webhooks')],
    'portal-phone-light': [phone, portal => portal.open('/guide/quickstart')],
    'portal-phone-dark': [phone, portal => portal.openOperation('createPet')],
  };

/** Tries out an operation. */
async function showResponse(portal: PortalPage, key: string): Promise<void> {
  await portal.openOperation('listPets');
  await portal.useKey(key);
  await portal.tryOut({ parameters: { limit: 3 } });
}

const directory = mkdtempSync(join(tmpdir(), 'petstore-screenshots-'));
const service = spawn(process.execPath, [join(root, 'service/src/main.ts'), 'serve', '--demo'], {
  env: { PATH: process.env.PATH, PORT: '0', PETSTORE_DRAIN_SECONDS: '0', PETSTORE_DATA: directory },
  stdio: ['ignore', 'pipe', 'pipe'],
});
let errorOutput = '';
service.stderr.on('data', text => {
  errorOutput += text;
});
const ended = once(service, 'close');
let browser: Browser | undefined;
try {
  const baseURL = await addressOfService();
  const key = readFileSync(join(directory, 'admin.key'), 'utf8').trim();
  browser = await openBrowser();
  mkdirSync(pictures, { recursive: true });
  for (const [name, [options, prepare]] of Object.entries(scenes)) {
    const colorScheme = name.endsWith('dark') ? 'dark' : 'light';
    const settings = { baseURL, colorScheme, locale: 'en-GB', timezoneId: 'UTC' } as const;
    const context = await browser.newContext({ ...settings, ...options });
    const page = await context.newPage();
    await prepare(new PortalPage(page), key);
    await page.screenshot({ path: join(pictures, `${name}.png`), animations: 'disabled' });
    await context.close();
  }
} finally {
  await browser?.close();
  service.kill('SIGTERM');
  await ended;
  rmSync(directory, { recursive: true });
}

async function addressOfService(): Promise<string> {
  for await (const line of createInterface({ input: service.stdout })) {
    if (line.includes('"msg":"Listening"')) {
      service.stdout.resume();
      return JSON.parse(line).url;
    }
  }
  throw new Error(`The service did not start: ${errorOutput}`);
}
