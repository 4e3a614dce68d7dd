import type { Locator, Page, Response } from 'playwright-core';

/** An operation as the portal lists it. */
export interface Listed {
  operationId: string;
  tags: string[];
}

export interface TriedOut {
  /** What the browser received. */
  response: Response;
  /** The status that the page shows. */
  status: number;
  /** The headers about limits that the page shows, with their numbers. */
  limits: Record<string, number>;
}

/** The API reference, and the actions of a reader on it. */
export class PortalPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** Loads the reference, and opens the operation that the fragment names. */
  async open(fragment = ''): Promise<this> {
    await this.page.goto(`/docs${fragment}`);
    return this.ready();
  }

  async reload(): Promise<this> {
    await this.page.reload();
    return this.ready();
  }

  async ready(): Promise<this> {
    await this.page.locator('body[data-ready]').waitFor({ state: 'attached' });
    return this;
  }

  /** The element of an operation. */
  operation({ operationId, tags: [tag = ''] }: Listed): Locator {
    return this.page.locator(`[id="operations-${tag.replaceAll(' ', '_')}-${operationId}"]`);
  }

  /** The entry of an operation in the navigation. */
  entry({ operationId }: Pick<Listed, 'operationId'>): Locator {
    return this.page.locator(`nav[aria-label="Operations"] a[data-operation="${operationId}"]`);
  }

  /** Opens an operation through its entry in the navigation. */
  async show(operation: Listed): Promise<Locator> {
    await this.entry(operation).click();
    const shown = this.operation(operation);
    await shown.locator('[data-samples]').waitFor();
    return shown;
  }

  /** Opens every closed part of an operation. */
  async unfold(shown: Locator): Promise<void> {
    await shown.locator('[data-code]').last().waitFor();
    // The page creates the content of a response when it opens, and that content has closed parts of its own.
    for (const kind of ['[data-code]', '[data-code] details'])
      await shown.locator(kind).evaluateAll(all => {
        for (const details of all) details.open = true;
        const { requestAnimationFrame, setTimeout } = all[0].ownerDocument.defaultView;
        return new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn)));
      });
  }

  async useKey(key: string): Promise<void> {
    await this.page.locator('#api-key').fill(key);
  }

  /** Opens an operation, fills in the parameters and the body, and sends the request. */
  async tryOut(
    operation: Listed,
    { parameters = {}, body }: { parameters?: Record<string, unknown>; body?: unknown } = {},
  ): Promise<TriedOut> {
    const shown = await this.show(operation);
    await shown.locator('.try-out__btn').click();
    for (const [name, value] of Object.entries(parameters))
      await shown.locator(`[data-param-name="${name}"] input`).fill(String(value));
    if (body !== undefined) await shown.locator('textarea').fill(JSON.stringify(body));
    return this.execute(operation);
  }

  /** Sends the form of an operation without changing it. */
  async execute(operation: Listed): Promise<TriedOut> {
    const shown = this.operation(operation);
    const received = this.page.waitForResponse(response => response.request().resourceType() === 'fetch');
    await shown.locator('.execute').click();
    const response = await received;
    const id = await response.headerValue('x-request-id');
    // The page may still show the response to the request before.
    const live = shown.locator('.live-response').filter({ hasText: `x-request-id: ${id}` });
    return {
      response,
      status: Number(await live.locator('.response-col_status').textContent()),
      limits: await shownLimits(live),
    };
  }
}

async function shownLimits(live: Locator): Promise<Record<string, number>> {
  const rows = await live
    .locator('[data-rate-limit] div')
    .evaluateAll(divs =>
      divs.map((div): [string, string] => [
        div.querySelector('dt').textContent,
        div.querySelector('dd').textContent,
      ]),
    );
  return Object.fromEntries(rows.map(([name, value]) => [name, Number(/^\d+/.exec(value)?.[0])]));
}
