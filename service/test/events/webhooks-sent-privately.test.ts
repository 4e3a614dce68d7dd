import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { startTestApp } from '../support/test-app.ts';
import { Receiver } from './receiver.ts';
import { sendDue } from './webhook-shop.ts';

const PUBLIC = '93.184.215.14';

/**
 * A service in production with a webhook that was created for a public address. `send` changes its URL to `urlOf(port)`,
 * resolves all names to `address`, and returns the error of an attempt.
 */
async function movingWebhook(t: TestContext) {
  const receiver = await Receiver.start();
  t.after(() => receiver.close());
  let resolvedAddress = PUBLIC;
  const { app, api } = await startTestApp(t, {
    webhooks: {
      shutdownTimeout: 0,
      resolve: async () => [{ address: resolvedAddress, family: resolvedAddress.includes(':') ? 6 : 4 }],
    },
  });
  const created = await api.post('/webhooks', { url: 'https://shop.example/hook' });
  assert.equal(created.status, 201, created.text);
  const { port } = new URL(receiver.url);
  const send = async (urlOf: (port: string) => string, address = PUBLIC): Promise<string> => {
    await app.db.run('UPDATE webhooks SET url = ?', [urlOf(port)]);
    resolvedAddress = address;
    const { headers } = await api.post('/webhooks/1/test');
    await sendDue(app);
    return (await api.get(headers.location!)).body.attempts[0].error;
  };
  return { receiver, send };
}

describe('a webhook with a private address at the time of sending', () => {
  for (const scheme of ['http', 'https']) {
    it(`is not sent over ${scheme} to the address in its URL`, async t => {
      const { receiver, send } = await movingWebhook(t);
      for (const host of [
        '127.0.0.1',
        '10.0.0.1',
        '169.254.169.254',
        '[::1]',
        '[::ffff:127.0.0.1]',
        '[64:ff9b::7f00:1]',
      ]) {
        const error = await send(port => `${scheme}://${host}:${port}/hook`);
        assert.match(error, /^\S+ is not a public address$/, host);
      }
      assert.deepEqual(receiver.received, []);
    });

    it(`is not sent over ${scheme} to the new address of its name`, async t => {
      const { receiver, send } = await movingWebhook(t);
      for (const address of [
        '127.0.0.1',
        '10.0.0.1',
        '169.254.169.254',
        '::1',
        'fd00::1',
        '::ffff:127.0.0.1',
        '64:ff9b::7f00:1',
      ]) {
        const error = await send(port => `${scheme}://shop.example:${port}/hook`, address);
        assert.equal(error, 'No public address was found for shop.example', address);
      }
      assert.deepEqual(receiver.received, []);
    });
  }
});
