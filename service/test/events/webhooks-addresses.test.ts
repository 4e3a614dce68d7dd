import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import { Endpoints, NoPublicAddress, type Resolve } from '../../src/events/webhooks/endpoints.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { close } from '../support/local-endpoint.ts';
import { assertInvalid } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { certificate, privateKey } from './certificate.ts';
import { Receiver } from './receiver.ts';
import { ALLOW_PRIVATE, sendDue, webhookShop } from './webhook-shop.ts';

function found(...addresses: string[]): LookupAddress[] {
  return addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 }));
}

const names: Record<string, string[]> = {
  localhost: ['127.0.0.1', '::1'],
  'inside.example': ['10.1.2.3'],
  'metadata.example': ['169.254.169.254'],
  'inside6.example': ['fd00::1', 'fe80::1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'azure.example': ['168.63.129.16'],
  'both.example': ['127.0.0.1', '93.184.215.14'],
  'outside.example': ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
};

const resolve: Resolve = async hostname => {
  const addresses = names[hostname.replace(/\.$/, '')];
  if (!addresses) throw new Error('ENOTFOUND');
  return found(...addresses);
};

/** addresses.test.ts has the ranges; these are the spellings. */
const forbidden = [
  '10.0.0.1',
  '168.63.129.16',
  '169.254.169.254',
  // Other spellings of 127.0.0.1.
  '2130706433',
  '0x7f.1',
  '0177.0.0.1',
  '127.1',
  '127.0.0.1.',
  // Full-width digits.
  '%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[2002:7f00:1::]',
  '[fd00:ec2::254]',
  '[fe80::1]',
];

const allowed = [
  '93.184.215.14',
  '128.0.0.1',
  '[2606:2800:21f:cb07:6820:80da:af6b:8b2c]',
  '[::ffff:93.184.215.14]',
];

describe('the address of a webhook', () => {
  it('that is not public is rejected in every spelling', async t => {
    const { api } = await startTestApp(t, { webhooks: { resolve } });
    for (const host of forbidden) {
      const response = await api.post('/webhooks', { url: `https://${host}/hook` });
      const message = assertInvalid(response);
      assert.match(message, /^Field `url` must have a public address, but .* is not one$/, host);
    }
  });

  it('that is public is accepted', async () => {
    const endpoints = new Endpoints({ resolve, allowPrivate: false });
    for (const host of allowed) await endpoints.rejectForbidden(`https://${host}:8443/hook`);
  });

  it('is rejected by POST, PUT and PATCH when its name has no public address, with one message for unknown and for private names', async t => {
    const { api } = await startTestApp(t, { webhooks: { resolve, resolveTimeout: 1 } });
    const outside = { url: 'https://outside.example/hook', enabled: false };
    assert.equal((await api.post('/webhooks', outside)).status, 201);
    assert.equal((await api.post('/webhooks', { ...outside, url: 'https://both.example/' })).status, 201);
    for (const name of [
      'localhost',
      'inside.example',
      'metadata.example',
      'inside6.example',
      'mapped.example',
      'azure.example',
      'nowhere.example',
    ]) {
      const url = `https://${name}/hook`;
      for (const response of [
        await api.post('/webhooks', { url }),
        await api.put('/webhooks/1', { url }),
        await api.patch('/webhooks/1', { url }),
      ]) {
        assertInvalid(
          response,
          `Field \`url\` must have a host with a public address, but none was found for ${name}`,
        );
      }
    }
  });

  it('is not looked up again by PUT and PATCH that do not change it, so that a webhook whose host is gone can be paused', async t => {
    let addresses = found('93.184.215.14');
    const { api } = await startTestApp(t, {
      webhooks: { resolve: async () => addresses, resolveTimeout: 1 },
    });
    assert.equal((await api.post('/webhooks', { url: 'https://gone.example' })).status, 201);
    addresses = [];
    const { body } = await api.get('/webhooks/1');
    for (const url of ['https://gone.example', body.url]) {
      const paused = await api.put('/webhooks/1', { url, enabled: false });
      assert.deepEqual([paused.status, paused.body.enabled, paused.body.url], [200, false, body.url]);
      assert.equal((await api.patch('/webhooks/1', { url, enabled: true })).status, 200);
      assertInvalid(await api.patch('/webhooks/1', { url: `${body.url}other` }), /none was found for gone/);
    }
  });

  it('is not looked up again when the outcome of an Idempotency-Key is replayed', async t => {
    let addresses = found('93.184.215.14');
    const { api } = await startTestApp(t, {
      webhooks: { resolve: async () => addresses, resolveTimeout: 1 },
    });
    const create = (key: string) =>
      api.post('/webhooks', { url: 'https://moved.example/' }, { 'idempotency-key': key });
    const first = await create('first');
    addresses = [];
    const again = await create('first');
    assert.deepEqual([again.status, again.headers.location], [201, first.headers.location]);
    assertInvalid(await create('second'), /none was found for moved\.example/);
  });

  it('is looked up by the name servers, because few look-ups of the operating system can run at once', async t => {
    const { mock } = t.mock.method(Resolver.prototype, 'resolve4', async () => ['10.0.0.1']);
    t.mock.method(Resolver.prototype, 'resolve6', async () => []);
    const { api } = await startTestApp(t, { webhooks: { resolve: undefined, resolveTimeout: 1 } });
    assertInvalid(
      await api.post('/webhooks', { url: 'https://hook.invalid/' }),
      /none was found for hook\.invalid/,
    );
    assert.deepEqual(mock.calls[0]?.arguments, ['hook.invalid']);
  });

  it('is looked up by the operating system where private ones are allowed, for the names of the hosts file', async t => {
    const unknown = () => Promise.reject(new Error('ENOTFOUND'));
    t.mock.method(Resolver.prototype, 'resolve4', unknown);
    t.mock.method(Resolver.prototype, 'resolve6', unknown);
    const { api } = await startTestApp(t, { environment: ALLOW_PRIVATE, webhooks: { resolve: undefined } });
    const { status, text } = await api.post('/webhooks', { url: 'http://localhost/', enabled: false });
    assert.equal(status, 201, text);
  });

  it('is rejected after the same time for unknown and for private names', async () => {
    const resolveTimeout = 50;
    const endpoints = new Endpoints({ resolve, allowPrivate: false, resolveTimeout });
    let passed = false;
    // Timers of the same length fire in the order in which they started, however busy the machine is.
    const wait = setTimeout(resolveTimeout).then(() => {
      passed = true;
    });
    const rejections = ['inside.example', 'nowhere.example', 'azure.example'].map(async name => {
      await assert.rejects(endpoints.rejectForbidden(`https://${name}/`), /none was found for/);
      assert.ok(passed, name);
    });
    await Promise.all([wait, ...rejections]);
  });

  it('of an attempt is reported alike for unknown and for private names, without the time of the look-up', async t => {
    let outcome: () => LookupAddress[] = () => found('93.184.215.14');
    const { app, api } = await startTestApp(t, {
      webhooks: {
        resolve: async () => {
          await setTimeout(5);
          return outcome();
        },
      },
    });
    assert.equal((await api.post('/webhooks', { url: 'https://moved.example/' })).status, 201);
    const unknown = (): never => {
      throw new Error('ENOTFOUND');
    };
    for (outcome of [unknown, () => found('10.0.0.1'), () => []]) {
      const { headers } = await api.post('/webhooks/1/test');
      await sendDue(app);
      const { error, durationMs } = (await api.get(headers.location!)).body.attempts[0];
      assert.deepEqual([error, durationMs], ['No public address was found for moved.example', 0]);
    }
  });

  it('must use HTTPS', async t => {
    const { api } = await startTestApp(t, { webhooks: { resolve } });
    for (const url of ['http://outside.example/', 'ws://outside.example/', 'file:///etc/passwd', 'data:,x']) {
      const message = assertInvalid(await api.post('/webhooks', { url }));
      assert.match(message, /^Field `url` must start with `https:\/\/`, but starts with `\w+:`$/);
    }
  });

  it('can be private, and use HTTP, where a setting allows it', async t => {
    const shop = await webhookShop(t);
    for (const url of ['http://127.0.0.1:8080/', 'https://10.0.0.1/', 'http://[::1]/'])
      assert.equal((await shop.api.post('/webhooks', { url, enabled: false })).status, 201);
    const ftp = await shop.api.post('/webhooks', { url: 'ftp://127.0.0.1/' });
    assertInvalid(ftp, /start with `https:\/\/` or `http:\/\/`/);
  });

  it('is the public one of a name with public and private addresses', async () => {
    const endpoints = new Endpoints({ resolve, allowPrivate: false });
    const lookup = promisify(endpoints.lookup as (...args: unknown[]) => void) as (
      ...args: unknown[]
    ) => Promise<unknown>;
    assert.deepEqual(await lookup('both.example', { all: true }), found('93.184.215.14'));
    assert.equal(await lookup('both.example', {}), '93.184.215.14');
    assert.equal(await lookup('outside.example', { family: 6 }), names['outside.example']![1]);
    await assert.rejects(lookup('localhost', { all: true }), NoPublicAddress);
    await assert.rejects(lookup('nowhere.example', { all: true }), NoPublicAddress);
  });

  it('is used directly: proxy variables in the environment of the process have no effect', async t => {
    process.env.HTTP_PROXY = 'http://127.0.0.1:1';
    process.env.NODE_USE_ENV_PROXY = '1';
    t.after(() => {
      delete process.env.HTTP_PROXY;
      delete process.env.NODE_USE_ENV_PROXY;
    });
    const shop = await webhookShop(t);
    await shop.webhook();
    await shop.deliver();
    await shop.after(5 * SECOND);
    assert.equal(shop.receiver.received.length, 1);
    assert.equal(shop.receiver.received[0]!.headers.connection, 'keep-alive');
  });
});

/** Sends a test event to a local endpoint with a certificate of `hooks.example`, and returns the result. */
async function sendTo(t: TestContext, hostname: string) {
  let received = 0;
  const server = createServer({ key: privateKey, cert: certificate }, (request, response) => {
    received++;
    request.resume().on('end', () => response.end('Thanks'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => close(server));
  const { app, api } = await startTestApp(t, {
    environment: ALLOW_PRIVATE,
    webhooks: { resolve: async () => [{ address: '127.0.0.1', family: 4 }] },
  });
  const { port } = server.address() as AddressInfo;
  const { status } = await api.post('/webhooks', { url: `https://${hostname}:${port}/hook` });
  assert.equal(status, 201);
  await api.post('/webhooks/1/test');
  await sendDue(app);
  const [attempt] = (await api.get('/webhooks/1/deliveries/1')).body.attempts;
  return { status: attempt.status, error: attempt.error, received };
}

function trust(t: TestContext): void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, certificate]);
  t.after(() => setDefaultCACertificates(before));
}

describe('an HTTPS endpoint', () => {
  it('gets deliveries when its certificate is trusted', async t => {
    trust(t);
    assert.deepEqual(await sendTo(t, 'hooks.example'), { status: 200, error: null, received: 1 });
  });

  it('gets nothing when its certificate is not trusted', async t => {
    const { status, error, received } = await sendTo(t, 'hooks.example');
    assert.deepEqual([status, received], [null, 0]);
    assert.match(error, /self[- ]signed certificate/);
  });

  it('gets nothing when its certificate has another name', async t => {
    trust(t);
    const { status, error, received } = await sendTo(t, 'other.example');
    assert.deepEqual([status, received], [null, 0]);
    assert.match(error, /does not match certificate/);
  });
});

const PUBLIC = '93.184.215.14';
const PRIVATE = '127.0.0.1 10.0.0.1 169.254.169.254 ::1 fd00::1 ::ffff:127.0.0.1 64:ff9b::7f00:1'.split(' ');

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
      for (const address of PRIVATE) {
        const host = address.includes(':') ? `[${address}]` : address;
        const error = await send(port => `${scheme}://${host}:${port}/hook`);
        assert.match(error, /^\S+ is not a public address$/, host);
      }
      assert.deepEqual(receiver.received, []);
    });

    it(`is not sent over ${scheme} to the new address of its name`, async t => {
      const { receiver, send } = await movingWebhook(t);
      for (const address of PRIVATE) {
        const error = await send(port => `${scheme}://shop.example:${port}/hook`, address);
        assert.equal(error, 'No public address was found for shop.example', address);
      }
      assert.deepEqual(receiver.received, []);
    });
  }
});
