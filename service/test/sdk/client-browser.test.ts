import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { useBrowser } from '../support/browser.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { installClient } from '../support/packed-client.ts';
import { startPageServer } from '../support/page-server.ts';

const visit = useBrowser();
const modules = join(installClient().directory, 'node_modules/@petstore/client/dist');
const pages = await startPageServer({ after });
// The modules as they are in the package, without a bundler.
for (const file of globSync('**/*.js', { cwd: modules }))
  pages.addModule(`/client/${file}`, readFileSync(join(modules, file), 'utf8'));

describe('the client in Chromium', () => {
  it('reads lists and errors of the service with a publishable key, from a page of another origin', async t => {
    const { shop, page, watch } = await visit(t);
    watch.expect(new RegExp(`^left the origin: ${pages.origin}/`));
    watch.expect(/status of 403/);
    const categoryId = await aCategory(shop.api);
    for (let i = 0; i < 5; i++) await aPet(shop.api, { categoryId });
    const { key } = await shop.clientWith({
      kind: 'publishable',
      scopes: ['pets:read'],
      origins: [pages.origin],
    });
    await page.goto(`${pages.origin}/`);
    const result = await page.evaluate(`(async () => {
      const { PetStore, PermissionError } = await import('/client/index.js');
      const store = new PetStore({ baseUrl: '${shop.origin}', apiKey: '${key}' });
      const ids = [];
      for await (const { id } of store.pets.list({ limit: 2 })) ids.push(id);
      const error = await store.orders.list().first().catch(error => error);
      const { name, limit } = store.limits.windows[0];
      return { ids, isRejected: error instanceof PermissionError, code: error.code, name, limit };
    })()`);
    const { body } = await shop.api.get('/pets?limit=100');
    assert.deepEqual(result, {
      ids: body.map(({ id }: { id: number }) => id),
      isRejected: true,
      code: 'insufficient_scope',
      name: 'visitor-minute',
      limit: 60,
    });
  });

  it('verifies a webhook with WebCrypto', async t => {
    const { page, watch } = await visit(t);
    watch.expect(new RegExp(`^left the origin: ${pages.origin}/`));
    await page.goto(`${pages.origin}/`);
    const code = await page.evaluate(`(async () => {
      const { verifyWebhook } = await import('/client/resources/verify-webhook.js');
      const key = crypto.getRandomValues(new Uint8Array(32));
      const timestamp = Math.floor(Date.now() / 1000);
      const content = new TextEncoder().encode('evt_1.' + timestamp + '.{"type":"pet.created"}');
      const hmac = { name: 'HMAC', hash: 'SHA-256' };
      const signing = await crypto.subtle.importKey('raw', key, hmac, false, ['sign']);
      const base64 = bytes => btoa(String.fromCharCode(...new Uint8Array(bytes)));
      const headers = new Headers({
        'webhook-id': 'evt_1',
        'webhook-timestamp': String(timestamp),
        'webhook-signature': 'v1,' + base64(await crypto.subtle.sign(hmac, signing, content)),
      });
      return (await verifyWebhook(headers, '{"type":"pet.created"}', 'whsec_' + base64(key))).type;
    })()`);
    assert.equal(code, 'pet.created');
  });
});
