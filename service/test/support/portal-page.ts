import type { BrowserContext, Locator, Page, Response } from 'playwright-core';
import { interceptRequests } from './page-requests.ts';

interface TriedOut {
  /** What the browser received. */
  response: Response;
  status: number;
}

/** The page of an operation, and the actions of a reader on it. */
export class PortalPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** Loads a page of the portal, and waits until its scripts have run. */
  async open(path = ''): Promise<this> {
    await this.page.goto(`/docs${path}`);
    await this.page.locator('body[data-ready]').waitFor({ state: 'attached' });
    return this;
  }

  openOperation(operationId: string): Promise<this> {
    return this.open(`/operations/${operationId}`);
  }

  /** The sample in the chosen language. */
  get sample(): Locator {
    return this.page.locator('.samples code').filter({ visible: true });
  }

  get live(): Locator {
    return this.page.locator('.live');
  }

  get message(): Locator {
    return this.page.locator('.try-message');
  }

  async useKey(key: string): Promise<void> {
    await this.page.locator('#api-key').fill(key);
  }

  async fill(name: string, value: string): Promise<void> {
    const field = this.page.locator(`[data-parameter="${name}"]`);
    if (!(await field.isVisible())) await this.page.locator('.optional > summary').click();
    const tag = await field.evaluate(element => element.tagName);
    if (tag === 'SELECT') await field.selectOption(value);
    else if (tag !== 'FIELDSET') await field.fill(value);
    else for (const choice of value.split(', ')) await field.getByLabel(choice).check();
  }

  /** Fills in the parameters and the body, and sends the request. */
  async tryOut({
    parameters = {},
    body,
  }: {
    parameters?: Record<string, unknown>;
    body?: unknown;
  } = {}): Promise<TriedOut> {
    for (const [name, value] of Object.entries(parameters)) await this.fill(name, String(value));
    if (body !== undefined) await this.page.locator('textarea').fill(JSON.stringify(body));
    return this.send();
  }

  send(): Promise<TriedOut> {
    return this.whenSent(() => this.page.locator('.send').click());
  }

  /** Waits for the response to the request that an action sends. */
  async whenSent(act: () => Promise<void>): Promise<TriedOut> {
    const received = this.page.waitForResponse(response => response.request().resourceType() === 'fetch');
    await act();
    const response = await received;
    const id = await response.headerValue('x-request-id');
    // The page may still show the response to the request before.
    const live = this.page.locator('.live', { hasText: id! });
    return { response, status: Number(await live.locator('.live-status').textContent()) };
  }
}

/** Shows the portal under another address to the browser. */
export async function serveAs(context: BrowserContext, origin: string): Promise<void> {
  await interceptRequests(context, 'http://shop.example/docs/**', async route => {
    const { pathname } = new URL(route.request().url());
    await route.fulfill({ response: await route.fetch({ url: origin + pathname }) });
  });
}
