import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { MINUTE } from '../../src/kit/clock.ts';
import type { Client } from '../support/client.ts';
import { aPet } from '../support/factories.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { anyRequest } from './any-request.ts';

/** A shop with an animal, an order for it, and a client whose key has an ID that no request names. */
async function startShop(t: TestContext): Promise<TestApp & { client: Client & { key: string } }> {
  const shop = await startTestApp(t);
  await aPet(shop.api);
  await shop.api.post('/store/orders', { petId: 1 });
  await shop.clientWith({});
  return { ...shop, client: await shop.clientWith({}) };
}

/** A warning or worse in the log is a fault, even if the client was told of another. */
function assertNoFault({ logLines }: TestApp): void {
  const faults = logLines().filter(({ level }) => (level as number) > 30);
  assert.deepEqual(faults, []);
}

describe('whatever is sent', () => {
  it('as HTTP is answered as the contract says, never with a fault of the service', async t => {
    const shop = await startShop(t);
    await fc.assert(
      fc.asyncProperty(anyRequest, async ({ method, target, ...rest }) => {
        // A minute each, lest the address of the caller use up its limit.
        shop.clock.turn(MINUTE);
        // The client fails on an answer that the contract does not document.
        const { status } = await shop.client.send(method, target, rest);
        assert.ok(status < 500);
      }),
      { numRuns: 600 },
    );
    assertNoFault(shop);
  });

  it('as bytes is answered in the shape of the contract, never with a fault of the service', async t => {
    const shop = await startShop(t);
    const key = `Host: shop\r\nX-API-Key: ${shop.client.key}\r\n`;
    const requests = [
      `GET /store/orders?limit=2&complete=true HTTP/1.1\r\n${key}Accept: application/json\r\n\r\n`,
      `POST /categories HTTP/1.1\r\n${key}Content-Type: application/json\r\nContent-Length: 15\r\n\r\n{"name":"Cats"}`,
      'GET /healthz HTTP/1.1\r\nHost: shop\r\nConnection: keep-alive\r\n\r\n',
    ];
    // No digits, lest the server wait for a longer body.
    const noise = fc.string({ maxLength: 2 }).map(text => text.replace(/\d/g, '_'));
    const edits = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 2 }), noise), { maxLength: 2 });
    // Ends what an edit has cut short.
    const next = '\r\n\r\nGET /healthz HTTP/1.1\r\nHost: shop\r\n\r\n';
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...requests), edits, async (request, edits) => {
        shop.clock.turn(MINUTE);
        let bytes = request;
        for (const [place, cut, noise] of edits) {
          const at = place % bytes.length;
          bytes = bytes.slice(0, at) + noise + bytes.slice(at + cut);
        }
        const { status } = await exchangeBytes(shop.origin, bytes + next);
        assert.ok(status < 500);
      }),
      { numRuns: 150 },
    );
    assertNoFault(shop);
  });
});
