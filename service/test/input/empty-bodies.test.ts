import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exchangeBytes } from '../support/raw-http.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

/** A request with a Content-Type, and with neither Content-Length nor Transfer-Encoding: it has no body (RFC 9112 §6.3). */
function send({ origin, adminKey }: TestApp, method: string, path: string, type = 'application/json') {
  const head = `${method} ${path} HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${adminKey}\r\nContent-Type: ${type}\r\n\r\n`;
  return exchangeBytes(origin, head);
}

describe('a request with a Content-Type but no body', () => {
  it('is rejected where the operation needs a body', async t => {
    const app = await startTestApp(t);
    for (const [method, path] of [
      ['POST', '/categories'],
      ['PUT', '/pets/1'],
      ['PATCH', '/store/orders/1'],
    ] as const) {
      const message = assertRejected(await send(app, method, path), 400, 'invalid_request');
      assert.equal(message, 'The request needs a JSON object as its body');
    }
  });

  it('succeeds where the operation needs no body', async t => {
    const app = await startTestApp(t);
    assertRejected(await send(app, 'DELETE', '/pets/1'), 404, 'pet_not_found');
    assert.equal((await send(app, 'GET', '/pets')).status, 200);
  });

  it('is rejected for a media type that the operation does not accept', async t => {
    const app = await startTestApp(t);
    assertRejected(await send(app, 'POST', '/categories', 'text/plain'), 415, 'unsupported_media_type');
  });
});
