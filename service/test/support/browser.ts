import assert from 'node:assert/strict';
import { after, before, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchBrowser } from './launch-browser.ts';
import { startTestApp, type TestApp } from './test-app.ts';

/** How long a page may take for anything that a test waits for, in milliseconds. */
const TIMEOUT = 20_000;

/** How long to leave a page alone between two looks at it, in milliseconds. */
const POLL_INTERVAL = 20;

/** What happened in the pages of a browser context. */
export class Watch {
  /** Every URL that was asked for. */
  readonly urls: string[] = [];
  readonly #faults: string[] = [];
  readonly #expected: RegExp[] = [];

  constructor(context: BrowserContext, origin: () => string) {
    context.on('console', message => {
      // What the browser itself thinks of a page, at a level that its console hides.
      if (String(message.type()) !== 'verbose')
        this.#faults.push(`console ${message.type()}: ${message.text()}`);
    });
    context.on('weberror', error => this.#faults.push(`uncaught: ${error.error().stack}`));
    context.on('requestfailed', request =>
      this.#faults.push(`failed: ${request.method()} ${request.url()}: ${request.failure()?.errorText}`),
    );
    context.on('request', request => {
      const url = request.url();
      this.urls.push(url);
      if (!/^(data|blob):/.test(url) && new URL(url).origin !== origin())
        this.#faults.push(`left the origin: ${url}`);
    });
    context.on('page', page => page.on('websocket', socket => this.#faults.push(`socket: ${socket.url()}`)));
  }

  /** Allows for what a test provokes: the browser itself logs every response of 400 and above. */
  expect(fault: RegExp): void {
    this.#expected.push(fault);
  }

  /** Console messages, uncaught errors, violations of the CSP, failed requests, and requests to elsewhere. */
  get faults(): string[] {
    return this.#faults.filter(fault => !this.#expected.some(expected => expected.test(fault)));
  }
}

/** Runs in every document before its own scripts. The console is recorded. */
const reportViolations = `document.addEventListener('securitypolicyviolation', event =>
  console.error('CSP: ' + event.effectiveDirective + ' forbids ' + (event.blockedURI || 'inline') +
    ' at ' + event.sourceFile + ':' + event.lineNumber));`;

export interface Visit {
  context: BrowserContext;
  page: Page;
  shop: TestApp;
  watch: Watch;
  /** Opens another context of the browser, which shares nothing with this one. */
  anotherVisitor: () => Promise<BrowserContext>;
}

/**
 * One browser for the file that calls this. What it answers opens an empty page of a new context, and starts a service
 * of its own for it. When the test ends it fails if anything went wrong in the page, expected or not.
 */
export function useBrowser(): (t: TestContext, options?: BrowserContextOptions) => Promise<Visit> {
  let browser: Browser | undefined;
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser?.close());

  return async (t, options = {}) => {
    const contexts: BrowserContext[] = [];
    const faults: string[] = [];
    let origin = '';
    let watch: Watch | undefined;
    // Before the service is taken down, which would make requests fail.
    t.after(async () => {
      faults.push(...(watch?.faults ?? []));
      await Promise.all(contexts.map(context => context.close()));
    });
    // The browser is spoken to from this process, with timers of its own.
    const shop = await startTestApp(t, {
      alone: false,
      // Wherever a webhook leads, it ends on this machine, where nobody answers.
      environment: { PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' },
      webhooks: { resolve: async () => [{ address: '127.0.0.1', family: 4 }] },
    });
    origin = shop.origin;
    t.after(() => assert.deepEqual(faults, [], 'something went wrong in the page'));

    const newContext = async () => {
      const context = await browser!.newContext({
        baseURL: origin,
        viewport: { width: 1280, height: 900 },
        ...options,
      });
      contexts.push(context);
      context.setDefaultTimeout(TIMEOUT);
      await context.addInitScript(reportViolations);
      return context;
    };
    const context = await newContext();
    watch = new Watch(context, () => origin);
    return { context, page: await context.newPage(), shop, watch, anotherVisitor: newContext };
  };
}

/** Waits until `read` answers what was wanted; fails with what it answers instead. */
export async function eventually<T>(read: () => Promise<T>, wanted: T, told = ''): Promise<void> {
  const deadline = Date.now() + TIMEOUT;
  for (;;) {
    const value = await read();
    try {
      assert.deepEqual(value, wanted, told);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await sleep(POLL_INTERVAL);
  }
}
