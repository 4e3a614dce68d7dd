import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aCategory } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

const lists = ['/pets', '/categories', '/store/orders', '/store/inventory', '/keys'];

describe('a query parameter', () => {
  it('that does not exist is rejected, and the message suggests the closest one', async t => {
    const { api } = await startTestApp(t);
    for (const list of lists) {
      for (const [misspelled, meant] of [
        ['limt', 'limit'],
        ['curser', 'cursor'],
        ['Sort', 'sort'],
      ]) {
        const message = assertRejected(await api.get(`${list}?${misspelled}=1`), 400, 'invalid_request');
        assert.equal(message, `Unknown query parameter \`${misspelled}\`; did you mean \`${meant}\`?`);
      }
      const message = assertRejected(await api.get(`${list}?zebra=1&limit=2`), 400, 'invalid_request');
      assert.match(message, /^Unknown query parameter `zebra`; known are `/);
    }
  });

  it('is rejected where the operation accepts none', async t => {
    const { api } = await startTestApp(t);
    for (const path of ['/pets/1', '/store/orders/1', '/keys/1', '/healthz', '/openapi.json']) {
      const message = assertRejected(await api.get(`${path}?verbose=1`), 400, 'invalid_request');
      assert.equal(message, 'Unknown query parameter `verbose`; none is allowed here');
    }
    assertRejected(await api.post('/categories?dryRun=true', { name: 'Dogs' }), 400, 'invalid_request');
    assert.deepEqual((await api.get('/categories')).body, []);
  });

  it('named like a property of every JavaScript object is unknown like any other', async t => {
    const { api } = await startTestApp(t);
    for (const name of ['__proto__', 'constructor', 'hasOwnProperty', 'toString']) {
      for (const path of ['/pets', '/pets/1', '/healthz']) {
        const message = assertRejected(await api.get(`${path}?${name}=1`), 400, 'invalid_request');
        assert.match(message, new RegExp(`^Unknown query parameter \`${name}\``));
      }
    }
  });

  it('with a number too large is quoted as sent', async t => {
    const { api } = await startTestApp(t);
    for (const limit of ['9007199254740993', '9223372036854775807', '9223372036854775808']) {
      const message = assertRejected(await api.get(`/pets?limit=${limit}`), 400, 'invalid_request');
      assert.match(message, new RegExp(`but was "?${limit}"?$`));
    }
    const ids = '9007199254740993,'.repeat(101).slice(0, -1);
    const message = assertRejected(
      await api.get(`/pets?id=${ids.replaceAll(',', '&id=')}`),
      400,
      'invalid_request',
    );
    assert.ok(message.includes('but was [9007199254740993,9007199254740993,'), message);
  });

  it('that takes one value is rejected when it is repeated', async t => {
    const { api } = await startTestApp(t);
    for (const query of [
      'limit=1&limit=2',
      'limit=1&limit=1',
      'categoryId=1&categoryId=1',
      'name=a&name=b',
      'sort=id&sort=id',
    ]) {
      const message = assertRejected(await api.get(`/pets?${query}`), 400, 'invalid_request');
      assert.match(message, /^Query parameter `\w+` must be given once, but was given 2 times$/);
    }
  });

  const rejected: [url: string, rule: RegExp][] = [
    ['/pets?limit=0', /^Query parameter `limit` must be at least 1, but was 0$/],
    ['/pets?limit=101', /^Query parameter `limit` must be at most 100, but was 101$/],
    ['/pets?limit=-1', /^Query parameter `limit` must be at least 1, but was -1$/],
    ['/pets?limit=ten', /^Query parameter `limit` must be an integer \(int64\), but was "ten"$/],
    ['/pets?limit=', /^Query parameter `limit` must be an integer \(int64\), but was ""$/],
    ['/pets?limit', /^Query parameter `limit` must be an integer \(int64\), but was ""$/],
    ['/pets?limit=9223372036854775808', /^Query parameter `limit` must be an integer \(int64\)/],
    [
      '/pets?status=gone',
      /^Query parameter `status` must be one of `available`, `pending`, `sold`, but was "gone"$/,
    ],
    ['/pets?sort=nam', /^Query parameter `sort` must be one of `id`, `-id`, `name`, `-name`, but was "nam"$/],
    ['/pets?name=', /^Query parameter `name` must not be empty, but was ""$/],
    ['/pets?name=%20', /^Query parameter `name` must not be blank, but was " "$/],
    ['/pets?name=a%00b', /^Query parameter `name` must not contain control characters, but was "a\\u0000b"$/],
    [`/pets?name=${'a'.repeat(201)}`, /^Query parameter `name` must have at most 200 characters/],
    [`/pets?${'id=1&'.repeat(101)}`, /^Query parameter `id` must have at most 100 items/],
    ['/pets?cursor=', /^Query parameter `cursor` must not be empty, but was ""$/],
    ['/pets?cursor=abc', /^Query parameter `cursor` must be taken unchanged from the Link header/],
    [`/pets?cursor=${'a'.repeat(4097)}`, /^Query parameter `cursor` must have at most 4096 characters/],
    ['/store/orders?complete=1', /^Query parameter `complete` must be `true` or `false`, but was "1"$/],
    [
      '/store/orders?shipDateFrom=2026-12-01',
      /^Query parameter `shipDateFrom` must be a date-time with offset/,
    ],
    [
      '/store/orders?shipDateTo=2026-12-01T00:00:00+02:00',
      /but was "2026-12-01T00:00:00 02:00": in a URL, write \+ as %2B$/,
    ],
    ['/store/inventory?quantityBelow=-1', /^Query parameter `quantityBelow` must be at least 0, but was -1$/],
    ['/store/inventory?quantityBelow=2147483648', /must be at most 2147483647, but was 2147483648$/],
  ];

  it('that breaks its rule is rejected, and the message states the rule and what was sent', async t => {
    const { api } = await startTestApp(t);
    for (const [url, rule] of rejected) {
      assert.match(assertRejected(await api.get(url), 400, 'invalid_request'), rule);
    }
  });

  it('with a broken percent-encoding, or one that is not UTF-8, is rejected by name', async t => {
    const { api } = await startTestApp(t);
    for (const value of ['%ZZ', '%', '%4', '%ff', '%C0%80', '%ED%A0%80', 'a%E2%82']) {
      const message = assertRejected(await api.get(`/pets?limit=1&name=${value}`), 400, 'invalid_request');
      assert.equal(message, `Query parameter \`name\` must be percent-encoded UTF-8, but was "${value}"`);
      assertRejected(await api.get(`/pets?${value}=1`), 400, 'invalid_request');
    }
  });

  it('can use every percent-encoding of UTF-8, and + for a space', async t => {
    const { api } = await startTestApp(t);
    for (const [i, name] of ['Mäuse & Co', '100 %', '猫', '🐶=🐱', 'a+b'].entries()) {
      const categoryId = await aCategory(api, { name });
      const encoded = i % 2 ? encodeURIComponent(name) : new URLSearchParams({ name }).toString().slice(5);
      assert.deepEqual((await api.get(`/categories?name=${encoded}`)).body, [{ id: categoryId, name }]);
    }
  });
});

describe('a path', () => {
  it('with a broken percent-encoding, or one that is not UTF-8, is rejected', async t => {
    const { api } = await startTestApp(t);
    for (const part of ['%ZZ', '%', '%4', '%ff', '%C0%80', '%ED%A0%80']) {
      for (const path of [`/pets/${part}`, `/nowhere/${part}`, `/${part}`]) {
        const message = assertRejected(await api.get(`${path}?x=1`), 400, 'invalid_request');
        assert.equal(message, `The path must be percent-encoded UTF-8, but was "${path}"`);
      }
    }
  });

  it('with control characters is not found', async t => {
    const { api } = await startTestApp(t);
    for (const part of ['%00', '1%00', '%0A', '1%0d', '%7f']) {
      const { status } = await api.get(`/pets/${part}`);
      assert.ok(status === 400 || status === 404, `${part} ${status}`);
      assertRejected(await api.get(`/pets${part}`), 404, 'route_not_found');
    }
  });
});
