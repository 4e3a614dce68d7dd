import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describedRoutes } from '../../src/described-routes.ts';
import { aCategory } from '../support/factories.ts';
import { filled } from '../support/operations.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { exampleBody } from '../support/route-requests.ts';
import { useShop } from '../support/use-shop.ts';

const shop = useShop();

/** IDs as they appear in a URL. */
const noInt64 = [
  'abc',
  '1.5',
  '01',
  '-0',
  '+1',
  '1e3',
  '0x10',
  '1_000',
  'NaN',
  'Infinity',
  'null',
  '%201',
  '1%20',
  '1%00',
  '%D9%A1',
  '%0D%0A1',
  '1%0A',
  '9223372036854775808',
  '-9223372036854775809',
  '99999999999999999999999999',
];

const unknownInt64 = [
  '0',
  '-1',
  '77',
  '9007199254740991',
  '9007199254740993',
  '9223372036854775807',
  '-9223372036854775808',
];

const onOneResource = describedRoutes.filter(({ path }) => path.endsWith('}'));

describe('an ID in a path', () => {
  it('that is not an int64 in plain decimal is rejected, and the message quotes it', async () => {
    assert.ok(onOneResource.length > 12);
    for (const route of onOneResource) {
      for (const id of noInt64) {
        const response = await shop.api.send(route.method, filled(route.path, id), {
          body: exampleBody(route),
        });
        const message = assertInvalid(response);
        const sent = JSON.stringify(decodeURIComponent(id));
        assert.match(message, /^Path parameter `\w+Id` must be an integer \(int64\), but was /);
        assert.ok(message.endsWith(sent), message);
      }
    }
  });

  it('that is a valid int64 but belongs to no resource is not found', async () => {
    const { api } = shop;
    for (const route of onOneResource) {
      for (const id of unknownInt64) {
        const path = filled(route.path, id);
        const { status, body } = await api.send(route.method, path, { body: exampleBody(route) });
        assert.equal(status, 404, `${route.method} ${path}`);
        assert.match(body.code, /^(pet|category|order|api_key|plan_request|webhook)_not_found$/);
        assert.ok(new RegExp(` ${id}$`).test(body.message), body.message);
      }
    }
  });

  it('can be percent-encoded', async () => {
    const categoryId = await aCategory(shop.api);
    assert.equal((await shop.api.get(`/categories/%3${categoryId}`)).body.id, categoryId);
  });
});

describe('an ID in a query', () => {
  const parameters = ['/pets?id=', '/pets?id=1&id=', '/pets?categoryId=', '/store/orders?petId='];

  it('that is not an int64 in plain decimal is rejected', async () => {
    for (const parameter of parameters) {
      for (const id of ['', ...noInt64]) {
        const message = assertInvalid(await shop.api.get(parameter + id));
        assert.match(message, /^Query parameter `\w+(\.\d)?` must be an integer \(int64\), but was "/);
      }
    }
  });

  it('that is a valid int64 but belongs to no resource finds nothing', async () => {
    for (const parameter of parameters) {
      for (const id of unknownInt64) assert.deepEqual((await shop.api.get(parameter + id)).body, []);
    }
  });
});

describe('an ID in a body', () => {
  const bodies = [
    ['/pets', (id: string) => `{"name":"Rex","categoryId":${id}}`],
    ['/store/orders', (id: string) => `{"petId":${id}}`],
  ] as const;

  it('that is not an integer from 1 to 2^53 − 1 is rejected', async () => {
    const wrong = [
      '0',
      '-1',
      '-0',
      '1.5',
      '"1"',
      '9007199254740992',
      '9007199254740993',
      '9223372036854775807',
      '1e400',
    ];
    for (const [path, bodyWith] of bodies) {
      for (const id of wrong) {
        assertInvalid(
          await shop.api.post(path, bodyWith(id)),
          /^Field `(categoryId|petId)` must be (at least 1|at most 9007199254740991|an integer)/,
        );
      }
      for (const id of ['01', '0x10', '+1', 'NaN', '١']) {
        assertInvalid(await shop.api.post(path, bodyWith(id)), /^The body is not valid JSON/);
      }
    }
  });

  it('that is within the range but unknown is reported as unknown, however it is written', async () => {
    const unknown = { 77: '77', '1e3': '1000', '77.0': '77', '9007199254740991': '9007199254740991' };
    for (const [path, bodyWith] of bodies) {
      for (const [id, read] of Object.entries(unknown)) {
        const response = await shop.api.post(path, bodyWith(id));
        const message = assertRejected(response, 422, path === '/pets' ? 'unknown_category' : 'unknown_pet');
        assert.ok(message.includes(` ${read},`), message);
      }
    }
  });
});
