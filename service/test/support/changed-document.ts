import type { BrowserContext } from 'playwright-core';
import type { DocumentObject } from '../contract/document.ts';

/** Changes the OpenAPI document between the service and the browser. */
export async function changeDocument(
  context: BrowserContext,
  change: (document: DocumentObject) => void,
): Promise<void> {
  await context.route('**/openapi.json', async route => {
    const response = await route.fetch();
    const document = await response.json();
    change(document);
    await route.fulfill({ response, json: document });
  });
}
