import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { documentedOperations } from '../contract/document.ts';
import { useBrowser } from '../support/browser.ts';
import { runCurl } from '../support/code-samples.ts';
import { fetchBytes } from '../support/fetch-bytes.ts';
import { PortalPage } from '../support/portal-page.ts';

const visit = useBrowser();
const visitShop = useBrowser({}, { isDemo: false });

describe('the anchors of a page', () => {
  it('are unique, and every field has one', async t => {
    const { shop } = await visit(t);
    for (const { operation } of documentedOperations) {
      const { text } = await fetchBytes(`${shop.origin}/docs/operations/${operation.operationId}`);
      const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!);
      assert.equal(new Set(ids).size, ids.length, operation.operationId);
      const fields = text.match(/<div class="field"/g) ?? [];
      const linked = [
        ...text.matchAll(/<div class="field" id="([\w.-]+)">\n<p><a class="anchor" href="#\1">/g),
      ];
      assert.equal(linked.length, fields.length, operation.operationId);
    }
  });

  it('open the fields that contain their field, and so do the results of a search', async t => {
    const { page } = await visit(t);
    const portal = await new PortalPage(page).openOperation('createApiKey');
    const nested = page.locator('[id="body.newenterpriseapikey.quotas.perMinute"]');
    assert.equal(await nested.isVisible(), false);
    await portal.open('/operations/createApiKey#body.newenterpriseapikey.quotas.perMinute');
    await nested.waitFor({ state: 'visible' });
    await page.keyboard.press('/');
    await page.locator('dialog input').fill('perDay create an API key');
    await page.locator('dialog a[href$="createApiKey#body.newenterpriseapikey.quotas.perDay"]').click();
    await page.locator('[id="body.newenterpriseapikey.quotas.perDay"]:target').waitFor({ state: 'visible' });
  });
});

describe('the form', () => {
  it('offers the values of an enumeration and of a boolean as choices', async t => {
    const { page, shop } = await visit(t);
    const portal = await new PortalPage(page).openOperation('listPets');
    await page.locator('.optional > summary').click();
    const choices = (name: string) => page.locator(`[data-parameter=${name}] option`).allTextContents();
    assert.deepEqual(await choices('sort'), ['', 'id', '-id', 'name', '-name']);
    assert.deepEqual(await choices('count'), ['', 'true', 'false']);
    await page.getByLabel('available').check();
    await page.getByLabel('sold').check();
    await portal.fill('count', 'true');
    const { url } = runCurl(await portal.sample.innerText(), 'the key');
    assert.equal(url, `${shop.origin}/pets?status=available&status=sold&count=true`);
  });

  it('warns once before it changes a shop that is not the demo, even on this machine', async t => {
    const { page, shop, watch } = await visitShop(t);
    const portal = await new PortalPage(page).openOperation('listCategories');
    await portal.useKey(shop.adminKey);
    assert.equal((await portal.send()).status, 200, 'reading needs no warning');
    await portal.openOperation('createCategory');
    const sent = watch.urls.length;
    await page.locator('.send').click();
    await portal.message.filter({ hasText: 'is not the demo shop' }).waitFor();
    assert.equal(watch.urls.length, sent);
    assert.equal((await portal.tryOut({ body: { name: 'Once' } })).status, 201);
    assert.equal((await portal.tryOut({ body: { name: 'Twice' } })).status, 201);
  });

  it('changes the demo shop without a warning', async t => {
    const { page, shop } = await visit(t);
    const portal = await new PortalPage(page).openOperation('createCategory');
    await portal.useKey(shop.adminKey);
    assert.equal((await portal.tryOut({ body: { name: 'At once' } })).status, 201);
  });
});
