import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import { Random } from '../support/random.ts';
import { servicePair } from '../support/service-pair.ts';

const statuses = ['available', 'pending', 'sold'];
const names = ['Rex', 'rex', 'Éclair', 'Zoë', 'Straße', 'Ärmel', 'Bello'];

describe('the test service responds as the service does', () => {
  it('to lists with filters and sorts, page by page', async t => {
    const both = await servicePair(t);
    for (const name of ['Dogs', 'cats', 'Ärmel']) await both.send('POST', '/categories', { name });
    const random = new Random(7);
    for (let i = 0; i < 40; i++) {
      const body = {
        name: `${random.pick(names)} ${i % 7}`,
        categoryId: random.between(1, 3),
        status: random.pick(statuses),
      };
      await both.send('POST', '/pets', body);
      await both.send('PUT', `/store/inventory/${i + 1}`, { quantity: random.between(0, 5) });
    }
    for (let i = 0; i < 30; i++) {
      const body = {
        petId: random.between(1, 40),
        shipDate: `2026-12-${random.between(10, 19)}T00:00:00Z`,
        complete: i % 3 === 0,
      };
      await both.send('POST', '/store/orders', random.between(0, 3) > 0 ? body : {});
    }
    const filters: Record<string, string[]> = {
      '/pets': [
        'id=3&id=9&id=1',
        'id=3,9&id=1',
        'status=available&status=sold',
        'categoryId=2',
        'name=rex',
        'q=rex%201',
        'count=true',
      ],
      '/categories': ['name=ä', 'count=true'],
      '/store/orders': [
        'petId=1&petId=2&petId=3',
        'complete=false',
        'shipDateFrom=2026-12-12T00:00:00Z',
        'shipDateTo=2026-12-15T00:00:00%2B02:00',
      ],
      '/store/inventory': [
        'petId=4&petId=2',
        'status=pending',
        'categoryId=1',
        'quantityBelow=2',
        'count=true',
      ],
    };
    const sorts: Record<string, string[]> = {
      '/pets': ['id', '-id', 'name', '-name'],
      '/categories': ['id', '-name'],
      '/store/orders': ['-id', 'shipDate', '-shipDate'],
      '/store/inventory': ['petId', '-petId', 'quantity', '-quantity'],
    };
    let rejections = 0;
    for (const [path, all] of Object.entries(filters)) {
      const sets = ['', ...all, ...all.flatMap((a, i) => all.slice(i + 1).map(b => `${a}&${b}`))];
      for (const query of sets)
        for (const sort of ['', ...sorts[path]!.map(name => `sort=${name}`)]) {
          const url = `${path}?${[query, sort, 'limit=7'].filter(Boolean).join('&')}`;
          if ((await both.pages(url)) === 0) rejections++;
        }
    }
    assert.ok(rejections > 20);
    for (const wrong of [
      'limit=0',
      'limit=1001',
      'limit=x',
      'limit=1&limit=2',
      'cursor=abc',
      'cursor=',
      'page=2',
      'sort=color',
      'status=wild',
      'id=x',
    ])
      assert.equal((await both.send('GET', `/pets?${wrong}`)).status, 400, wrong);
  });

  it('to searches without typing errors, page by page', async t => {
    const both = await servicePair(t);
    await both.send('POST', '/categories', { name: 'Pets' });
    for (const name of [
      'Rexona',
      'rex max',
      'Rex',
      'Max the Rex',
      'Ida 🐹',
      'Łukasz',
      'Guðmund',
      'Œuvre',
      'Zoë ß',
      "O'Malley",
    ])
      await both.send('POST', '/pets', { name, categoryId: 1 });
    for (const q of [
      'rex',
      're',
      'rex ma',
      'max rex',
      '...',
      '🐹',
      'luka',
      'gud',
      'oe',
      'zoe',
      'ss',
      'o malley',
      'x',
    ])
      assert.ok((await both.pages(`/pets?q=${encodeURIComponent(q)}&limit=2&count=true`)) > 0, q);
    assert.equal((await both.send('GET', '/pets?q=a+b+c+d+e+f+g+h+i')).status, 400);
  });

  it('to conditions, repeated requests and requests that break a rule', async t => {
    const both = await servicePair(t);
    await both.send('POST', '/categories', { name: 'Dogs' });
    const { headers } = await both.send('POST', '/pets', { name: ' Rex ', categoryId: 1 });
    const etag = headers.etag!;
    for (const path of ['/pets/1', '/pets?id=1', '/account']) {
      await both.send('GET', path, undefined, { 'if-none-match': path === '/account' ? '*' : etag });
      await both.send('GET', path, undefined, { 'if-match': '"other"' });
    }
    for (const method of ['PATCH', 'PUT', 'DELETE'])
      for (const condition of [
        { 'if-match': '"other"' },
        { 'if-none-match': etag },
        { 'if-match': 'unquoted' },
      ])
        await both.send(
          method,
          '/pets/1',
          method === 'DELETE' ? undefined : { name: 'Max', categoryId: 1 },
          condition,
        );
    await both.send(
      'PATCH',
      '/pets/1',
      { name: 'Max' },
      { 'if-match': etag, 'content-type': 'application/merge-patch+json' },
    );
    await both.send('PATCH', '/pets/1', { name: 'Moritz' }, { 'if-match': etag });
    // Creations ignore it, and a resource that does not exist comes first.
    assert.equal(
      (await both.send('POST', '/pets', { name: 'Ida', categoryId: 1 }, { 'if-match': 'unquoted' })).status,
      201,
    );
    assert.equal((await both.send('GET', '/pets/999', undefined, { 'if-match': 'unquoted' })).status, 404);
    await both.send('GET', '/pets?limit=1', undefined, { 'if-match': '"other"' });
    await both.send('HEAD', '/pets/1');
    await both.send('DELETE', '/pets/1', { id: 1 });
    assert.equal((await both.send('DELETE', '/pets/999', {})).status, 404);

    const key = { 'idempotency-key': 'basket-17' };
    const { body } = await both.send('POST', '/store/orders', { petId: 1 }, key);
    assert.deepEqual(
      (await both.send('POST', '/store/orders', { petId: 1 }, { 'idempotency-key': '"basket-17"' })).body,
      body,
    );
    await both.send('POST', '/store/orders', { petId: 1, quantity: 2 }, key);
    for (const body of [
      { petId: 2, complete: false },
      { complete: false, petId: 2 },
    ])
      await both.send('POST', '/store/orders', body, { 'idempotency-key': 'basket-18' });
    await both.send('POST', '/store/orders', {}, { 'idempotency-key': 'é' });
    for (const later of [24 * 60 * MINUTE, 1]) {
      both.advance(later);
      await both.send('POST', '/store/orders', {}, key);
    }

    const bodies = [
      '',
      '[]',
      'null',
      '1',
      '{',
      '{"name":1,"categoryId":1}',
      '{"name":"","categoryId":1}',
      '{"name":"a","categoryId":0}',
    ];
    bodies.push(
      '{"name":"a"}',
      '{"name":"a","categoryId":1,"color":1}',
      '{"name":"a\\u0000","categoryId":1}',
      '{"name":"\\u200d","categoryId":1}',
      '{"name":"\\u200da","categoryId":1}',
      `{"name":"${'a'.repeat(201)}","categoryId":1}`,
    );
    bodies.push(
      '{"name":"a","categoryId":1,"status":null}',
      '{"name":"a","categoryId":1.5}',
      `{"name":"${'a'.repeat(70_000)}","categoryId":1}`,
    );
    for (const body of bodies)
      for (const method of ['POST', 'PUT'])
        await both.send(method, method === 'PUT' ? '/pets/1' : '/pets', body);
    for (const shipDate of ['2026-02-30T00:00:00Z', '2026-01-01', '2026-01-01T00:00:00+25:00'])
      await both.send('POST', '/store/orders', { shipDate });
    await both.send('PUT', '/pets/1', { id: 2, name: 'Max', categoryId: 1 });
    await both.send('POST', '/pets', { name: 'a', categoryId: 1 }, { 'content-type': 'text/plain' });
    await both.send(
      'POST',
      '/pets',
      { name: 'a', categoryId: 1 },
      { 'content-type': 'application/merge-patch+json' },
    );
    for (const id of ['x', '1.5', '-1', '0', '9223372036854775807', '9223372036854775808', '01'])
      await both.send('GET', `/pets/${id}`);
    for (const path of ['/pets/1/2', '/nothing', '/pets/1']) await both.send('POST', path, {});
    for (const version of ['1', '1.0.0', '2'])
      await both.send('GET', '/pets', undefined, { 'api-version': version });
    await both.send('GET', '/pets/1', undefined, { 'x-api-key': 'psk_x' });
    await both.send('GET', '/pets', undefined, { 'x-api-key': '', authorization: 'Bearer psk_x' });
    const operations = [
      { method: 'POST', path: '/pets', body: { name: 'Ida', categoryId: 1 }, label: 'ida' },
      { method: 'PUT', path: '/store/inventory/{ida}', body: { quantity: 3 } },
    ];
    await both.send('POST', '/batch', {
      operations: [
        ...operations,
        { method: 'POST', path: '/store/orders', body: { petId: { $label: 'ida' }, quantity: 2 } },
      ],
    });
    for (const wrong of [
      { method: 'DELETE', path: '/pets/{unknown}' },
      { method: 'DELETE', path: '/keys/1' },
      { method: 'PATCH', path: '/pets/1', body: { name: 'a' }, ifMatch: '"x"' },
      { method: 'PUT', path: '/pets/1', body: {} },
      { method: 'GET', path: '/pets' },
      { method: 'PUT', path: '/categories/{ida}', body: { name: 'x' } },
      { method: 'PATCH', path: '/pets/{ida}', body: { id: 1 } },
      { method: 'PATCH', path: '/pets/1', body: { id: 2 } },
      { method: 'POST', path: '/pets', body: { name: 'a', categoryId: 1 }, label: 'ida' },
      { method: 'POST', path: '/pets', body: { name: 'a', categoryId: { $label: 'max' } } },
      { method: 'DELETE', path: '/pets/1', body: {} },
      { method: 'DELETE', path: '/pets/1', body: { id: 1 } },
      { method: 'POST', path: '/pets' },
      7,
    ])
      for (const atomic of [true, false])
        await both.send('POST', '/batch', { operations: [...operations, wrong], atomic });
    for (const wrong of [{ operations: [] }, {}, { operations: [{ method: 'GET', path: '/pets' }] }])
      await both.send('POST', '/batch', wrong);
  });

  it('to a body that is too large, also in its message', async t => {
    const { services } = await servicePair(t);
    for (const [path, size] of [
      ['/pets', 64 * 1024],
      ['/batch', 1024 * 1024],
    ] as const) {
      const [real, imitated] = await Promise.all(
        services.map(async ({ origin, key, fetch }) => {
          const headers = { 'x-api-key': key, 'content-type': 'application/json' };
          const body = '0'.repeat(size + 1);
          return (await fetch(origin + path, { method: 'POST', headers, body })).text();
        }),
      );
      assert.equal(imitated, real);
      assert.match(String(real), /: send less, or several requests"/);
    }
  });

  it('to keys without a scope', async t => {
    const both = await servicePair(t, { scopes: ['pets:read', 'orders:write', 'events:read'] });
    for (const [method, path, body] of [
      ['GET', '/pets'],
      ['POST', '/pets', { name: 'a', categoryId: 1 }],
      ['GET', '/store/orders'],
      ['POST', '/store/orders', {}],
      ['GET', '/store/inventory/1'],
      ['GET', '/events?type=pet.*'],
      ['GET', '/events?type=order.placed'],
      ['GET', '/events?subject=store/orders/1'],
      ['GET', '/events?type=pet.bought'],
      ['GET', '/events?subject=cats/1'],
      ['GET', '/events?subject=pets/1&actor=system'],
      ['GET', '/events?subject=pets/1&actor=system&count=true'],
      ['GET', '/events?cursor=99999'],
      ['GET', '/events?cursor=x'],
      ['GET', '/account'],
      ['POST', '/batch', { operations: [{ method: 'DELETE', path: '/pets/1' }] }],
    ] as [string, string, unknown?][])
      await both.send(method, path, body);
  });

  for (const plan of ['free', 'pro'] as const)
    it(`to clients that use up the plan ${plan}, wait, do not wait, and are banned`, async t => {
      const both = await servicePair(t, { plan, quotas: undefined as never });
      const verdicts = new Set<string>();
      const send = async (path = '/pets') => {
        const { status, body } = await both.send('GET', path);
        verdicts.add(`${status} ${(body as { code?: string }).code ?? ''}`);
        return status;
      };
      const useUp = async () => {
        while ((await send()) === 200);
      };
      await useUp();
      for (let i = 0; i < 8; i++) await send();
      both.advance(3 * SECOND);
      for (let i = 0; i < 12; i++) await send();
      await send('/account');
      both.advance(MINUTE);
      await send();
      await useUp();
      both.advance(2 * SECOND);
      for (let i = 0; i < 12; i++) await send();
      both.advance(6 * MINUTE);
      await both.send('POST', '/batch', {
        operations: Array.from({ length: 61 }, () => ({ method: 'POST', path: '/store/orders', body: {} })),
      });
      await both.send('POST', '/batch', {
        operations: Array.from({ length: 59 }, () => ({ method: 'POST', path: '/store/orders', body: {} })),
      });
      await useUp();
      both.advance(MINUTE);
      for (let i = 0; i < 70; i++) await both.send('GET', '/pets', undefined, { 'x-api-key': 'psk_unknown' });
      both.advance(24 * 60 * MINUTE);
      for (const path of ['/account', '/pets', '/account']) await send(path);
      assert.deepEqual([...verdicts].toSorted(), ['200 ', '429 api_key_banned', '429 rate_limit_exceeded']);
    });
});
