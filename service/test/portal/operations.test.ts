import assert from 'node:assert/strict';
import { it } from 'node:test';
import { documentedOperations, type ListedOperation } from '../contract/document.ts';
import { useBrowser } from '../support/browser.ts';
import { isLong } from '../support/long.ts';
import { filledIn } from '../support/operation-values.ts';
import { PortalPage } from '../support/portal-page.ts';

const visit = useBrowser();

const tried = documentedOperations.filter(
  ({ operation }) => operation['x-hideTryItPanel'] !== true && operation.operationId !== 'streamEvents',
);

/** What the form and the request of an operation depend on. */
function kindOf({ method, path, operation }: ListedOperation): string {
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))!;
  const body = Object.keys(operation.requestBody?.content ?? {});
  return JSON.stringify([method, path.match(/\{/g)?.length, body, success[0], operation.security.length]);
}

it('every kind of operation can be tried out on its page; with TEST_LONG=1 every operation', async t => {
  const kinds = new Map(tried.map(listed => [kindOf(listed), listed]));
  assert.ok(kinds.size > 10 && kinds.size < tried.length, `${kinds.size} kinds`);
  const { page, shop } = await visit(t);
  const portal = await new PortalPage(page).openOperation('getAccount');
  await portal.useKey(shop.adminKey);
  for (const listed of isLong ? tried : kinds.values()) {
    const { method, path, operation } = listed;
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
      const hasIdempotencyKey = JSON.stringify(operation.parameters).includes('/IdempotencyKey');
      assert.equal('idempotency-key' in sent, hasIdempotencyKey);
      const headers = await response.allHeaders();
      const inWords = (name: string) => Number(headers[name]).toLocaleString('en');
      const limits = `${inWords('x-ratelimit-remaining')} of ${inWords('x-ratelimit-limit')} requests left`;
      assert.ok((await portal.live.locator('.limits p').textContent())?.startsWith(limits), limits);
    });
  }
});
