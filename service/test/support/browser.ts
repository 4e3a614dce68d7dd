import assert from 'node:assert/strict';
import { after, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core';
import { openBrowser } from './launch-browser.ts';
import { startTestApp, type TestApp } from './test-app.ts';

/** How long a page may take for anything that a test waits for, in milliseconds. */
const TIMEOUT = 20_000;

/** The time between two reads of a condition, in milliseconds. */
const POLL_INTERVAL = 20;

/** The most lines of a page in the report of a test that failed. */
const MOST_LINES = 200;

const viewport = { width: 1280, height: 900 };

/** A request that the page cancelled, or that ended because the page was left. */
export const cancelled = /^failed: GET .*ERR_ABORTED/;

/** The browser logs every response with a status of 400 and above. */
const rejected = /^console error: Failed to load resource: the server responded with a status of \d+/;

/** Records what happens in the pages of a browser context. */
export class Watch {
  #urls: string[] = [];
  #faults: string[] = [];
  #expected: RegExp[] = [];
  #open = new Set<Request>();

  constructor(context: BrowserContext, origin: string) {
    context.on('console', message => {
      // Chromium's own hints about a page have this level, and its console hides them by default.
      if (String(message.type()) !== 'verbose')
        this.#faults.push(`console ${message.type()}: ${message.text()}`);
    });
    context.on('weberror', error => this.#faults.push(`uncaught: ${error.error().stack}`));
    context.on('requestfailed', request => {
      this.#open.delete(request);
      this.#faults.push(`failed: ${request.method()} ${request.url()}: ${request.failure()?.errorText}`);
    });
    context.on('requestfinished', request => this.#open.delete(request));
    context.on('request', request => {
      this.#open.add(request);
      const url = request.url();
      this.#urls.push(url);
      if (!/^(data|blob):/.test(url) && new URL(url).origin !== origin)
        this.#faults.push(`left the origin: ${url}`);
    });
    context.on('page', page => {
      page.on('websocket', socket => this.#faults.push(`socket: ${socket.url()}`));
      // The browser does not report the end of its requests.
      page.on('close', () => {
        for (const request of this.#open) if (request.frame().page() === page) this.#open.delete(request);
      });
    });
  }

  /** Starts a new record, for the next test. */
  begin(): void {
    this.#urls = [];
    this.#faults = [];
    this.#expected = [];
  }

  /** Allows a fault that a test provokes. */
  expect(fault: RegExp): void {
    this.#expected.push(fault);
  }

  /** The URL of every request. */
  get urls(): readonly string[] {
    return this.#urls;
  }

  /** Whether every request has ended with a response, except those that the page cancelled. */
  get isQuiet(): boolean {
    return (
      this.#open.size === 0 && this.#faults.every(fault => cancelled.test(fault) || rejected.test(fault))
    );
  }

  /** Console messages, uncaught errors, CSP violations, failed requests, and requests to another origin. */
  get faults(): string[] {
    return this.#faults.filter(fault => !this.#expected.some(expected => expected.test(fault)));
  }
}

/** Runs in every document before its own scripts. `Watch` records what the console shows. */
const reportViolations = `document.addEventListener('securitypolicyviolation', event =>
  console.error('CSP: ' + event.effectiveDirective + ' forbids ' + (event.blockedURI || 'inline') +
    ' at ' + event.sourceFile + ':' + event.lineNumber));`;

/**
 * Runs in every document before its own scripts. When the browser has nothing to do, the console loads the code of all its pages, which
 * takes a fifth of the time of a page. A test that needs this calls `becomeIdle`.
 */
const stayBusy = `globalThis.whenIdle = [];
  globalThis.requestIdleCallback = callback => whenIdle.push(callback);`;

/**
 * Runs in a page. React begins the effects of a page, except those of its layout, by a message to itself: they run later from here on,
 * as on a slow phone. The test must leave the document.
 */
export const delayEffects = `{
  const { postMessage } = MessagePort.prototype;
  MessagePort.prototype.postMessage = function (message) { setTimeout(() => postMessage.call(this, message), 200); };
}`;

/** Runs in a page. `copied` is the text that the page has copied last: pages of all test files share the clipboard of the browser. */
export const recordCopies = `{
  const { writeText } = Clipboard.prototype;
  Clipboard.prototype.writeText = async function (text) {
    await writeText.call(this, text);
    globalThis.copied = text;
  };
}`;

/** Runs in a page. Messages stay for ten minutes instead of ten seconds: on a slow machine a test may undo an action later. */
export const keepMessages = `{
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (run, delay, ...values) =>
    setTimeout(run, delay === 10_000 ? 600_000 : delay, ...values);
}`;

/**
 * Runs in every document before its own scripts. A page has the date of its service, so that what is overdue, and how long ago something
 * was, do not depend on the day of the run. `page.clock` compares this date with that of the test, and so needs the real one.
 */
const shiftDates = (offset: number) => `
  globalThis.Date = class extends Date {
    constructor(...values) {
      super(...(values.length > 0 ? values : [Date.now()]));
    }
    static now() {
      return super.now() + (globalThis.__pwClock === undefined ? ${offset} : 0);
    }
  };`;

/** Calls what the page wants to do when the browser has nothing to do, as soon as there is something. */
export async function becomeIdle(page: Page): Promise<void> {
  await eventually(() => page.evaluate('whenIdle.length > 0'), true);
  await page.evaluate('for (const callback of whenIdle) callback()');
}

export interface Visit {
  context: BrowserContext;
  page: Page;
  shop: TestApp;
  watch: Watch;
  /** Opens another context of the browser that shares nothing with this one. It closes when the test ends. */
  anotherVisitor: () => Promise<BrowserContext>;
}

/**
 * Opens one page and starts one service for all tests that share the returned function; both start with the first call.
 * Each call returns the page empty, with no stored data, on a screen, in light colours, without motion and in its first size. A test
 * fails at its end if there was a fault in the page, even when the test did not check for it. Drawing the frames of animations would
 * take a sixth of the processor time.
 */
export function useBrowser(
  options: BrowserContextOptions = {},
  {
    isDemo = true,
    empty = leave,
  }: { isDemo?: boolean; empty?: (page: Page, watch: Watch) => Promise<void> } = {},
): (t: TestContext) => Promise<Visit> {
  const resources = new AsyncDisposableStack();
  after(() => resources.disposeAsync());
  const contextOptions = { viewport, reducedMotion: 'reduce' as const, ...options };

  const open = async () => {
    const shop = await startTestApp(
      { after: (release: () => Promise<void>) => resources.defer(release) },
      {
        // The connection to the browser has sockets and timers of its own.
        alone: false,
        isDemo,
        // The host of every webhook resolves to this machine, on whose port nothing listens.
        environment: { PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' },
        webhooks: { resolve: async () => [{ address: '127.0.0.1', family: 4 }] },
      },
    );
    const browser = await openBrowser();
    // Deferred last, so it runs first: a service that stops makes requests of the page fail.
    resources.defer(() => browser.close());
    const newContext = async () => {
      const context = await browser.newContext({ baseURL: shop.origin, ...contextOptions });
      context.setDefaultTimeout(TIMEOUT);
      const offset = shop.clock.now() - Date.now();
      await context.addInitScript(`${reportViolations} ${stayBusy} ${shiftDates(offset)}`);
      return context;
    };
    const context = await newContext();
    const watch = new Watch(context, shop.origin);
    return { shop, newContext, context, watch, page: await context.newPage() };
  };
  let opened: ReturnType<typeof open> | undefined;

  return async t => {
    opened ??= open();
    const { shop, newContext, context, watch, page } = await opened;
    const visitors: BrowserContext[] = [];
    t.after(async () => {
      const { faults } = watch;
      // The types of Node.js 24 lack the property.
      if (!(t as TestContext & { passed: boolean }).passed)
        t.diagnostic(await stateOf([context, ...visitors], watch));
      await Promise.all(visitors.map(visitor => visitor.close()));
      for (const other of context.pages()) if (other !== page) await other.close();
      await empty(page, watch);
      await context.unrouteAll({ behavior: 'wait' });
      // Not `wait`: a test that failed may still hold a request back.
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.emulateMedia({
        colorScheme: 'light',
        reducedMotion: 'reduce',
        forcedColors: null,
        media: null,
      });
      await page.setViewportSize(contextOptions.viewport ?? viewport);
      // In a hook of its own, the last one: when a hook throws, node:test skips the rest, and a server that they close keeps the file
      // from ending.
      t.after(() => assert.deepEqual(faults, [], 'something went wrong in the page'));
    });
    watch.begin();
    const anotherVisitor = async () => {
      const visitor = await newContext();
      visitors.push(visitor);
      return visitor;
    };
    return { context, page, shop, watch, anotherVisitor };
  };
}

/** What the pages of a test show, and the latest requests and the faults of the first context, for the report of a test that failed. */
async function stateOf(contexts: readonly BrowserContext[], { urls, faults }: Watch): Promise<string> {
  const shown: string[] = [];
  for (const page of contexts.flatMap(context => context.pages())) {
    // The rest of the hook must run also when the page does not respond.
    const text = await page.locator('body').ariaSnapshot({ timeout: 2_000 }).catch(String);
    shown.push(`The page ${page.url()}`, ...text.split('\n').slice(0, MOST_LINES));
  }
  return [...shown, 'Latest requests', ...urls.slice(-10), 'Faults', ...faults].join('\n');
}

/** Removes what the page has stored, and leaves it. */
export async function leave(page: Page): Promise<void> {
  if (page.url() === 'about:blank') return;
  await page.evaluate('localStorage.clear(); sessionStorage.clear()');
  await page.context().clearCookies();
  await page.goto('about:blank');
}

/**
 * Stops the clock of a page, which must be installed, at a time that is not over yet when the page gets it. The timers until then
 * have run.
 */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.pauseAt(Number(await page.evaluate('Date.now()')) + TIMEOUT);
}

/** Reads until the value equals `wanted`. Fails after 20 seconds, with the last value. */
export async function eventually<T>(read: () => Promise<T>, wanted: T, message = ''): Promise<void> {
  const deadline = performance.now() + TIMEOUT;
  for (;;) {
    const value = await read();
    try {
      assert.deepEqual(value, wanted, message);
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await sleep(POLL_INTERVAL);
  }
}

/** Presses Tab until the focused element matches a selector. Fails if the focus is invisible on the way. */
export async function tabTo(page: Page, selector: string, atMost: number): Promise<void> {
  for (let i = 0; i < atMost; i++) {
    await page.keyboard.press('Tab');
    const focus = page.locator(':focus');
    if ((await focus.count()) === 0) continue;
    const { matches, outlined } = await focus.evaluate((element, wanted) => {
      const { outlineStyle, outlineWidth, boxShadow } =
        element.ownerDocument.defaultView.getComputedStyle(element);
      return {
        matches: element.matches(wanted) as boolean,
        outlined: (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none',
      };
    }, selector);
    assert.ok(outlined, `the focus cannot be seen on ${await focus.evaluate(element => element.outerHTML)}`);
    if (matches) return;
  }
  assert.fail(`${atMost} tabs do not lead to ${selector}`);
}

/** Returns whether the browser would ask before the page is closed or loaded again. */
export function asksToLeave(page: Page): Promise<boolean> {
  return page.evaluate("!dispatchEvent(new Event('beforeunload', { cancelable: true }))");
}

/**
 * Sends a key to the element with the focus, as a browser does while a word is composed (`isComposing`) or not. Returns whether the page
 * leaves the key to the browser.
 */
export function leavesKey(page: Page, key: string, isComposing: boolean): Promise<boolean> {
  const event = JSON.stringify({ key, isComposing, bubbles: true, cancelable: true });
  return page.evaluate(`document.activeElement.dispatchEvent(new KeyboardEvent('keydown', ${event}))`);
}

/** Everything that the pages of the console have stored in the browser, as JSON: of the device, and of the tab. */
export function storedIn(page: Page): Promise<string> {
  return page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
}
