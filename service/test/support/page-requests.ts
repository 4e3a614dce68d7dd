import type { BrowserContext, Page, Request } from 'playwright-core';

/** Which requests: a pattern of their URLs, as `page.route` takes it. */
type Url = Parameters<Page['route']>[0];

/**
 * Handles the requests of a page, or of all pages of a context, as their `route` does, from now on: a page that is busy can receive the
 * key or click of the test before the browser's message that its requests are intercepted. It runs a script after that message.
 * No dialog of the browser may be open.
 */
export async function interceptRequests(
  target: Page | BrowserContext,
  ...route: Parameters<Page['route']>
): Promise<void> {
  await target.route(...route);
  const pages = 'pages' in target ? target.pages() : [target];
  for (const page of pages) await page.evaluate('0');
}

/** Holds requests back, or only those for which `isHeld` is true. Returns a function that sends them, and lets later ones pass. */
export async function holdRequests(
  page: Page,
  url: Url,
  isHeld: (request: Request) => boolean = () => true,
): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await interceptRequests(page, url, async (route, request) => {
    if (isHeld(request)) await promise;
    await route.fallback();
  });
  return resolve;
}

/** Does something between the moment when the page sends the next request and the moment when the service receives it. */
export async function beforeNextRequest(page: Page, url: Url, act: () => Promise<unknown>): Promise<void> {
  await interceptRequests(
    page,
    url,
    async route => {
      await act();
      await route.continue();
    },
    { times: 1 },
  );
}

/** Responds to the next request with an error, whose message is "Made up". The service does not receive the request. */
export async function rejectNextRequest(page: Page, url: Url, status = 400): Promise<void> {
  const json = { code: 'bad', message: 'Made up', status };
  await interceptRequests(page, url, route => route.fulfill({ status, json }), { times: 1 });
}

/**
 * Makes responses arrive late, or only those to requests for which `isHeld` is true. `read` resolves when the first one is complete;
 * `arrive` lets them reach the page.
 */
export async function delayResponses(
  page: Page,
  url: Url,
  isHeld: (request: Request) => boolean = () => true,
): Promise<{ read: Promise<void>; arrive: () => void }> {
  const read = Promise.withResolvers<void>();
  const arrival = Promise.withResolvers<void>();
  await interceptRequests(page, url, async (route, request) => {
    if (!isHeld(request)) return route.fallback();
    const response = await route.fetch();
    read.resolve();
    await arrival.promise;
    await route.fulfill({ response });
  });
  return { read: read.promise, arrive: arrival.resolve };
}
