import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ListedOperation, operationsOf } from '../contract/document.ts';
import { useBrowser } from '../support/browser.ts';
import type { Client } from '../support/client.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { PortalPage } from '../support/portal-page.ts';

const visit = useBrowser();

/** For each parameter that is an ID: creates a resource for the operation to work on, and returns its ID. */
const seeds: Record<string, (api: Client, parameters: Record<string, number>) => Promise<number>> = {
  petId: api => aPet(api, { stock: 5 }),
  categoryId: api => aCategory(api),
  orderId: async api => anOrder(api, { petId: await aPet(api, { stock: 5 }), quantity: 1 }),
  keyId: async api => (await api.post('/keys', { name: 'Spare', plan: 'free', scopes: ['admin'] })).body.id,
  webhookId: async api =>
    (await api.post('/webhooks', { url: 'https://example.com/', types: ['key.*'] })).body.id,
  deliveryId: async (api, { webhookId }) => (await api.post(`/webhooks/${webhookId}/test`)).body.id,
};

/** The path parameters of an operation and its example as the body, with IDs of resources that exist. */
async function filledIn(api: Client, { path, operation }: ListedOperation) {
  const parameters: Record<string, number> = {};
  for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g))
    parameters[name] = await seeds[name]!(api, parameters);
  const [media] = Object.values(operation.requestBody?.content ?? {});
  if (!media) return { parameters };
  const body = { ...(media.example as Record<string, unknown>) };
  for (const name of Object.keys(body)) {
    if (name in seeds) body[name] = await seeds[name]!(api, parameters);
  }
  // Names of categories are unique.
  if (path.startsWith('/categories') && 'name' in body) body.name = `Made by ${operation.operationId}`;
  return { parameters, body };
}

/** Defines the tests that try out every operation with one of `tags`, unless the document excludes it. */
export function tryOutOperationsOf(...tags: string[]): void {
  describe(`trying out the operations with the tags ${tags.join(', ')}`, () => {
    it('works for every operation that the document does not exclude', async t => {
      const { page, shop } = await visit(t);
      const portal = await new PortalPage(page).openOperation('getAccount');
      await portal.useKey(shop.adminKey);
      for (const listed of operationsOf(tags)) {
        const { method, path, operation } = listed;
        if (operation['x-hideTryItPanel'] === true || operation.operationId === 'streamEvents') continue;
        await t.test(`${method} ${path}`, async () => {
          const request = await filledIn(shop.api, listed);
          await portal.openOperation(operation.operationId);
          const { response, status } = await portal.tryOut(request);
          const success = Number(Object.keys(operation.responses).find(code => code.startsWith('2')));
          const target = path.replace(/\{(\w+)\}/g, (_, name) => String(request.parameters[name]));
          const { pathname, search } = new URL(response.url());
          assert.deepEqual(
            [response.request().method(), pathname, search, response.status(), status],
            [method, target, '', success, success],
            await response.text().catch(() => ''),
          );
          // The browser does not send parameters that are empty.
          const { 'api-version': version, 'x-request-id': requestId, ...sent } = response.request().headers();
          assert.deepEqual([version, requestId], [undefined, undefined]);
          assert.equal('idempotency-key' in sent, method === 'POST');
          const headers = await response.allHeaders();
          const inWords = (name: string) => Number(headers[name]).toLocaleString('en');
          const limits = `${inWords('x-ratelimit-remaining')} of ${inWords('x-ratelimit-limit')} requests left`;
          assert.ok((await portal.live.locator('.limits p').textContent())?.startsWith(limits), limits);
        });
      }
    });
  });
}
