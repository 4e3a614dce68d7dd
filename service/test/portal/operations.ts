import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { operationsOf } from '../contract/document.ts';
import { useBrowser } from '../support/browser.ts';
import { filledIn } from '../support/operation-values.ts';
import { PortalPage } from '../support/portal-page.ts';

const visit = useBrowser();

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
