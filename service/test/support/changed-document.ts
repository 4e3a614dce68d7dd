import type { BrowserContext } from 'playwright-core';
import type { DocumentObject } from '../contract/document.ts';

/** Has the browser receive another document than the service sends. */
export async function changeDocument(
  context: BrowserContext,
  change: (document: DocumentObject) => void,
): Promise<void> {
  await context.route('**/openapi.json', async route => {
    const response = await route.fetch();
    const document = await response.json();
    change(document);
    await route.fulfill({ response: response, json: document });
  });
}
