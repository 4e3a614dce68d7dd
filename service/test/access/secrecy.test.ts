import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { isWellFormed } from '../../src/access/api-keys/secret.ts';
import { issueTicket } from '../../src/access/api-keys/sign-in-ticket.ts';
import type { ApiResponse } from '../support/client.ts';
import { contractFile } from '../support/contract-file.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

/** All texts that reveal a key: the key, its random part, and its hash in every encoding. */
function secretParts(key: string): string[] {
  const digests = (['hex', 'base64', 'base64url'] as const).map(encoding => hash('sha256', key, encoding));
  return [key, key.slice(4, 36), ...digests];
}

function assertNoSecret(texts: readonly string[], key: string): void {
  for (const secretPart of secretParts(key)) {
    const leak = texts.find(text => text.includes(secretPart));
    assert.equal(leak, undefined, `${secretPart} is in ${leak}`);
  }
}

/** One secret of each kind that the service issues. */
const issued: Record<string, (shop: TestApp) => Promise<string>> = {
  'the secret of a key': async ({ clientWith }) => (await clientWith({})).key,
  'the secret of a publishable key': async ({ api }) => {
    const settings = { kind: 'publishable', scopes: ['pets:read'], origins: ['https://shop.example'] };
    return (await api.post('/keys', { name: 'Page', plan: 'free', ...settings })).body.key;
  },
  'the secret of a test key': async ({ clientWith }) =>
    (await clientWith({ kind: 'test', plan: 'free', scopes: ['pets:write'] })).key,
  'the secret of a webhook': async ({ api }) =>
    (await api.post('/webhooks', { url: 'https://example.com/hook' })).body.secret,
  'the ticket of a link': ({ app, clock }) => issueTicket(app.db, clock.now()),
};

describe('a secret of the service', () => {
  for (const [kind, issue] of Object.entries(issued)) {
    it(`is in no log line and no response, wherever clients put it: ${kind}`, async t => {
      const shop = await startTestApp(t, {
        environment: { LOG_LEVEL: 'trace' },
        webhooks: { resolve: async () => [{ address: '93.184.215.14', family: 4 }] },
      });
      const { api, clientWith, logLines, origin } = shop;
      const secret = await issue(shop);
      const [prefix] = /^(?:psk_(?:pub_|test_)?|whsec_|psin_)/.exec(secret)!;
      const { key } = await clientWith({
        plan: 'enterprise',
        quotas: { perMinute: 1_000, perDay: 1_000 },
        scopes: ['pets:read', 'pets:write', 'orders:read', 'orders:write'],
      });
      const client = api.as(key);
      await client.post('/categories', { name: secret });
      const asHeader = (name: string) => client.post('/categories', { name: 'Dogs' }, { [name]: secret });
      const hex = Array.from(secret, character => `%${character.charCodeAt(0).toString(16)}`).join('');
      const responses: ApiResponse[] = [
        await client.get('/keys'),
        await client.delete(`/nowhere/${secret}`),
        await client.send('OPTIONS', `/${secret}`),
        await client.get(`/pets?limit=1&q=x${secret}x`),
        // The parser of the query replaces a + by a space.
        await client.get(`/pets?status=${prefix}+${secret.slice(prefix.length, -1)}+`),
        await api.get(`/events?subject=${secret}`),
        await client.get(`/pets?${secret}=1`),
        await client.get(`/pets?api_key=${secret}`),
        await client.delete('/pets', { authorization: `Bearer ${secret}` }),
        await client.post('/categories', { name: secret }),
        await client.post('/categories', { [secret]: 1 }),
        await client.post('/pets', { name: 1, categoryId: secret, status: secret }),
        await client.post('/pets', { name: 1, categoryId: [secret] }),
        await client.post('/categories', `{"name":"${secret}"`),
        await client.post('/categories', `{"${secret}":1,"${secret}":2}`),
        await client.post('/categories', secret),
        await client.put('/categories/1', { name: 'Dogs' }, { 'if-match': secret }),
        await client.get('/pets', { accept: secret }),
        await client.get('/pets', { 'api-version': secret }),
        await client.get('/nowhere', { 'x-request-id': secret }),
        await asHeader('content-type'),
        await asHeader('content-encoding'),
        await client.post('/categories', {}, { 'content-type': `application/json; charset=${secret}` }),
        await client.post('/categories', {}, { 'idempotency-key': `${secret}\t` }),
        await api.as(`${secret}x`).get('/pets'),
        await exchangeBytes(origin, `GET ${secret} HTTP/1.1\r\nX-API-Key: ${secret}\r\n\r\n`),
        await exchangeBytes(origin, `GET /pets HTTP/1.1\r\nX-API-Key: ${secret}\r\n\r\n`),
        await exchangeBytes(origin, `${secret}\r\n\r\n`),
      ];
      const partly = hex.slice(0, 3) + secret.slice(1);
      for (const written of [secret, encodeURIComponent(secret), hex, hex.toUpperCase(), partly]) {
        for (const path of [
          `/${written}`,
          `/${written}/pets`,
          `/pets/${written}`,
          `/pets/${written}?q=${written}`,
          `/pets/%ZZ${written}`,
          `/pets/${written}%ZZ`,
          `/docs/${written}?${written}`,
          `/docs/assets/${written}`,
          `/docs/${written}/`,
          // A path with another slash is the page of the console.
          `/console/assets/${written.replaceAll('/', '%2f')}`,
          `/pets?name=${written}`,
          `/pets?name=%ZZ${written}`,
          `/pets?status=${written}`,
          `/pets?cursor=${written}`,
          `/categories?limit=1&name=${written}`,
        ])
          responses.push(await client.get(path));
      }
      for (const { status, text } of responses) assert.ok(status >= 400, text);
      // Many of these requests succeed.
      for (const name of [
        'user-agent',
        'referer',
        'cookie',
        'x-request-id',
        'idempotency-key',
        'x-forwarded-for',
      ])
        for (const value of [secret, `${'x '.repeat(100)}${secret} Bearer ${secret}`])
          responses.push(await client.get('/pets', { [name]: value }));
      for (const start of [
        `GET http://${secret.replaceAll('/', '%2f')}@shop/pets HTTP/1.1\r\nHost: a`,
        `${secret} / HTTP/1.1`,
        `GET /${secret} HTTP/1.1`,
        `GET /pets HTTP/1.1\r\nHost: a\r\nUser-Agent: ${secret}\r\nBad header`,
      ])
        responses.push(await exchangeBytes(origin, `${start}\r\n\r\n`));
      const page = await fetch(`${origin}/docs/${secret}/`, {
        headers: { accept: 'text/html' },
        redirect: 'manual',
      });
      assert.equal(page.status, 404);
      const logged = logLines().map(line => JSON.stringify(line));
      assert.ok(logged.length > responses.length);
      const texts = [
        ...responses.map(({ text, headers }) => `${JSON.stringify(headers)} ${text}`),
        ...[JSON.stringify([...page.headers]), await page.text()],
        ...logged,
      ];
      // No text contains a part either that makes it worthwhile to guess the rest.
      const decoded = decodeURIComponent(texts.join('\n').replace(/%(?![2-7][0-9a-f])/gi, '%25'));
      for (let i = prefix.length; i + 12 <= secret.length; i++) {
        const at = decoded.indexOf(secret.slice(i, i + 12));
        assert.equal(at, -1, `${secret} is in ${decoded.slice(Math.max(0, at - 200), at + 200)}`);
      }
      assertNoSecret(texts, secret);
      assertNoSecret(texts, key);
    });
  }
});

describe('the secret of a key', () => {
  it('is in no response and no log line of operations on keys, including rotated ones', async t => {
    const shop = await startTestApp(t, {
      environment: { LOG_LEVEL: 'trace', PETSTORE_BAN_STRIKES: '1', PETSTORE_BAN_FORGIVENESS_SECONDS: '0' },
    });
    const { api, adminKey } = shop;
    const { key, keyId } = await shop.clientWith({ plan: 'enterprise', quotas: { perMinute: 1, perDay: 9 } });
    const path = `/keys/${keyId}`;
    const rotated = await api.post(`${path}/rotate`, undefined, { 'idempotency-key': 'once' });
    const secrets = [adminKey, key, rotated.body.key as string];
    const [client, renewed] = [api.as(key), api.as(secrets[2])];
    const responses: ApiResponse[] = [
      await client.get('/pets'),
      await client.get('/pets'),
      await renewed.get('/account'),
      await api.get('/keys'),
      await api.get(path),
      await api.get(`${path}/usage`),
      await api.post(`${path}/rotate`, undefined, { 'idempotency-key': 'once' }),
      await api.post(`${path}/rotate`, { graceSeconds: key }),
      await api.patch(path, { [key]: key }),
      await api.patch(path, { plan: key, scopes: [key], quotas: key, expiresAt: key }),
      await api.patch(path, { name: 'Renamed' }),
      await api.patch(path, { name: 'x' }, { 'if-match': key }),
      await api.get(`/keys/${key}`),
      await api.delete(`/keys/${key}/ban`),
      await api.delete(`${path}/ban`),
      await api.delete(path),
      await api.post(`${path}/rotate`),
      await api.patch(path, { name: 'x' }),
      await api.delete('/keys/1'),
      await renewed.get('/pets'),
    ];
    assert.ok(responses.some(({ body }) => body?.code === 'api_key_banned'));
    const returned = responses.map(({ text, headers }) => `${JSON.stringify(headers)} ${text}`);
    const logged = shop.logLines().map(line => JSON.stringify(line));
    assert.ok(logged.some(line => line.includes('API key banned')));
    for (const secret of secrets) assertNoSecret([...returned, ...logged], secret);
  });

  it('is not in the store: only its hash is', async t => {
    const { app, api, adminKey, clientWith, store } = await startTestApp(t);
    const { key } = await clientWith({});
    const created = await api.post(
      '/keys',
      { name: 'Repeatable', plan: 'free', scopes: ['pets:read'] },
      { 'idempotency-key': 'repeatable' },
    );
    const rotated = await api.post('/keys/2/rotate', {}, { 'idempotency-key': 'rotated' });
    await api.as(key).get('/pets');
    await app.keyLimits.flush();
    const stored = await store.storedBytes();
    for (const secret of [key, adminKey, created.body.key, rotated.body.key]) {
      assert.ok(
        stored.some(bytes => bytes.includes(hash('sha256', secret, 'buffer'))),
        'the search finds the hash',
      );
      assertNoSecret(
        stored.map(bytes => bytes.toString('latin1')),
        secret,
      );
    }
  });

  it('has only examples in the contract that no service and no scanner takes for a key', () => {
    const contract = readFileSync(contractFile, 'utf8');
    const examples = contract.match(/psk_\w{20,}/g) ?? [];
    assert.ok(examples.length > 0, 'the search finds the examples');
    for (const example of examples) {
      assert.match(example, /ThisIsOnlyAnExample/);
      assert.ok(!isWellFormed(example), `the checksum of ${example} is right`);
    }
    assert.doesNotMatch(contract, /\b(?!(0123456789abcdef){4}\b)[0-9a-f]{64}\b/i);
    for (const [, base64] of contract.matchAll(/whsec_([0-9A-Za-z+/]{20,})/g)) {
      assert.match(Buffer.from(base64!, 'base64').toString(), /example/);
    }
  });
});
