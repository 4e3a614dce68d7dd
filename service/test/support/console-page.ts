import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { before, type TestContext } from 'node:test';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { cancelled, leave, useBrowser, type Visit, type Watch } from './browser.ts';
import type { Client } from './client.ts';

let isBuilt = false;

/** Builds the console if a source is newer, once in this process. The service reads the result. */
export function buildConsole(): void {
  if (isBuilt) return;
  const script = join(import.meta.dirname, '../../../web/console/build.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  isBuilt = true;
}

export interface ConsoleVisit extends Visit {
  /** The administrator's client of the shop. */
  api: Client;
  /** Opens the console with the administrator's key or another one. `path` is below `/console`. */
  open: (path?: string, key?: string) => Promise<ConsolePage>;
  /** Opens the console for another visitor. */
  openForAnother: (path: string) => Promise<ConsolePage>;
  /**
   * Opens the console for another visitor, with a clock that the test can move. It begins at the time of the service. `script` runs in the
   * page before its own scripts.
   */
  openWithClock: (path: string, options?: { key?: string; script?: string }) => Promise<ConsolePage>;
  /** Opens the console in another page, with text of a size that the user has set in the browser: 16 is the usual one. */
  openWithText: (
    path: string,
    text: number,
    viewport: { width: number; height: number },
  ) => Promise<ConsolePage>;
}

/** Goes to a path of the console as a link does. The console keeps the places of lists under the key of the entry in the history. */
const push = (path: string) => `{
  const key = crypto.randomUUID();
  history.pushState({ key, __TSR_key: key, __TSR_index: history.length }, '', '/console${path}');
}`;

/** The pages whose document the next test uses again. */
const kept = new WeakSet<Page>();

/** The name under which the console stores a session, and of the channel of its tabs. */
const SESSION = 'petstore.console.session';

/**
 * Signs out, as another tab does, so that the next test signs in to the same document: loading the console takes three quarters of the
 * time of a short test. A document with requests that have not ended or received no response, or with stored settings, is left.
 */
async function signOut(page: Page, watch: Watch): Promise<void> {
  // A test with another visitor does not use the page.
  if (page.url() === 'about:blank' || kept.has(page)) return;
  const isSignedIn = await page.evaluate(`(() => {
    // Other tabs of the test can have sessions of their own.
    const { id } = JSON.parse(sessionStorage.getItem('${SESSION}') ?? localStorage.getItem('${SESSION}') ?? '{}');
    if (document.querySelector('#root nav') === null || id === undefined || localStorage.length > 1) return false;
    localStorage.clear();
    ${push('/nowhere')};
    globalThis.tabs ??= new BroadcastChannel('${SESSION}');
    return new Promise(resolve => setTimeout(() => { tabs.postMessage({ kind: 'end', id }); resolve(true); }));
  })()`);
  if (isSignedIn) await page.getByLabel('API key').waitFor();
  if (!isSignedIn || !watch.isQuiet) return leave(page);
  kept.add(page);
  page.once('domcontentloaded', () => kept.delete(page));
}

/** Presses a button again before the page can show that it is disabled. */
export function pressTwice(button: Locator): Promise<void> {
  return button.evaluate(element => {
    element.click();
    element.click();
  });
}

/** What `useBrowser` starts, with the console built. */
export function useConsole(options?: BrowserContextOptions): (t: TestContext) => Promise<ConsoleVisit> {
  const visit = useBrowser(options, { empty: signOut });
  before(buildConsole);
  return async t => {
    const visited = await visit(t);
    const open: ConsoleVisit['open'] = (path, key) => ConsolePage.open(visited, path, key);
    const openForAnother: ConsoleVisit['openForAnother'] = async path =>
      ConsolePage.openIn(await (await visited.anotherVisitor()).newPage(), path, visited.shop.adminKey);
    const openWithClock: ConsoleVisit['openWithClock'] = async (path, { key, script } = {}) => {
      // A clock is that of all pages of a visitor, also in later tests.
      const page = await (await visited.anotherVisitor()).newPage();
      if (script !== undefined) await page.addInitScript(script);
      await page.clock.install({ time: visited.shop.clock.now() });
      return ConsolePage.openIn(page, path, key ?? visited.shop.adminKey);
    };
    const openWithText: ConsoleVisit['openWithText'] = async (path, text, viewport) => {
      const { context, shop, watch } = visited;
      watch.expect(cancelled);
      const page = await context.newPage();
      await page.setViewportSize(viewport);
      const devtools = await context.newCDPSession(page);
      await devtools.send('Page.setFontSizes', { fontSizes: { standard: text } });
      return ConsolePage.openIn(page, path, shop.adminKey);
    };
    return { ...visited, api: visited.shop.api, open, openForAnother, openWithClock, openWithText };
  };
}

/** The console, and the actions of a user on it. */
export class ConsolePage {
  readonly page: Page;

  /** Opens the console with an API key. `path` is below `/console`. */
  static async open(
    { page, watch, shop }: Visit,
    path = '/animals',
    key = shop.adminKey,
  ): Promise<ConsolePage> {
    // The browser ends the stream of a page that it leaves, and the console cancels requests for lists that it no longer shows.
    watch.expect(cancelled);
    return ConsolePage.openIn(page, path, key);
  }

  /** The same in a page of another visitor, or in another tab, which continues the session of the first one. */
  static async openIn(page: Page, path: string, key: string): Promise<ConsolePage> {
    const opened = new ConsolePage(page);
    if (kept.delete(page)) {
      await opened.#continueSession(path, key);
      return opened;
    }
    await page.goto(`/console${path}`);
    const form = page.getByLabel('API key');
    await form.or(page.getByRole('navigation')).first().waitFor();
    if (await form.isVisible()) await opened.signIn(key);
    return opened;
  }

  constructor(page: Page) {
    this.page = page;
  }

  async signIn(key: string): Promise<void> {
    // The pointer would be on a link of the page that appears, whose code would then be loaded.
    await this.page.mouse.move(0, 0);
    await this.page.getByLabel('API key').fill(key);
    await this.page.getByLabel('API key').press('Enter');
    await this.page.getByRole('navigation').waitFor();
  }

  /** Signs in as a tab does when another one has begun a session. */
  async #continueSession(path: string, key: string): Promise<void> {
    await this.page.mouse.move(0, 0);
    const session = { id: randomUUID(), key, stays: false };
    await this.page.evaluate(`${push(path)}
      localStorage.setItem('${SESSION}', '${JSON.stringify({ id: session.id })}');
      tabs.postMessage({ kind: 'session', session: ${JSON.stringify(session)} });`);
    await this.page.getByRole('navigation').waitFor();
  }

  /**
   * Goes to a path below `/console` as a link does, and resolves when its page is shown. In the same document this takes a fifth of the
   * processor time of loading the console.
   */
  async go(path: string): Promise<void> {
    await this.page.evaluate(`__TSR_ROUTER__.navigate({ href: '/console${path}' })`);
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name, exact: true });
  }

  row(text: string | RegExp): Locator {
    return this.page.locator('[role="row"][data-index]').filter({ hasText: text });
  }

  get panel(): Locator {
    return this.page.locator('dialog.panel');
  }

  get question(): Locator {
    return this.page.locator('dialog.question');
  }

  field(label: string): Locator {
    return this.panel.getByLabel(label, { exact: true });
  }

  /** Opens the panel of a row, which has read the newest version of its item. */
  async edit(name: string): Promise<void> {
    const read = this.page.waitForResponse(response => /\/pets\?id=\d+$/.test(response.url()));
    await this.row(name).getByText(name).click();
    await this.panel.waitFor();
    await read;
  }

  async save(): Promise<void> {
    await this.panel.getByRole('button', { name: 'Save' }).click();
  }

  /**
   * Deletes the item of the panel. When its event arrives before the response, the panel reads it once more, although it no longer
   * exists.
   */
  async delete(watch: Watch): Promise<void> {
    watch.expect(/status of 404/);
    await this.panel.getByRole('button', { name: 'Delete' }).click();
    await this.question.getByRole('button', { name: 'Delete' }).click();
  }

  /** The text of the messages about what was done. */
  get messages(): Locator {
    return this.page.locator('.toasts');
  }

  /** Resolves when Today shows everything that it reads. A page that is left earlier aborts its requests, which is a fault. */
  async today(): Promise<void> {
    await this.page.getByRole('region', { name: 'Recent activity' }).getByRole('listitem').first().waitFor();
  }

  /** Resolves when the stream of events is open: changes by others appear from now on. */
  async live(): Promise<void> {
    await this.page.locator('html[data-live]').waitFor({ state: 'attached' });
  }
}
