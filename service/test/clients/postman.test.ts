import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { importIntoPostman, type PostmanRequest } from '../../../clients/testers/postman.ts';
import { document, documentedOperations } from '../contract/document.ts';
import { useShop } from '../support/use-shop.ts';

describe('Postman', () => {
  const shop = useShop({ alone: false });

  it('imports every operation, with the URL of a service that was started without settings', async () => {
    const { requests, variables } = await importIntoPostman(structuredClone(document));
    assert.equal(requests.length, documentedOperations.length);
    assert.equal(
      urlOf({ method: 'GET', url: { host: ['{{baseUrl}}'], path: ['pets'] } }, variables),
      'http://127.0.0.1:8080/pets',
    );
  });

  it('sends imported requests to the service whose URL is filled in', async () => {
    const { requests, variables } = await importIntoPostman(structuredClone(document));
    const reads = requests.filter(
      ({ method, url }) => method === 'GET' && url.path.every(part => /^[a-z-]+$/.test(part)),
    );
    assert.ok(reads.length > 10);
    for (const request of reads) {
      if (request.url.path.at(-1) === 'stream') continue;
      const url = urlOf(request, { ...variables, shop: shop.origin });
      const response = await fetch(url, { headers: { 'x-api-key': shop.adminKey } });
      await response.body?.cancel();
      assert.equal(response.status, 200, url);
    }
  });
});

/** The URL to which Postman sends a request. Variables can contain others. */
function urlOf({ url }: PostmanRequest, variables: Record<string, string>): string {
  let text = [...url.host, ...url.path].join('/');
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => variables[name] ?? whole);
  }
  return text;
}
