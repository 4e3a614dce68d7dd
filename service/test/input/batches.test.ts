import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventsOf } from '../support/event-log.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { TurnCounter } from '../support/turn-counter.ts';
import { useShop } from '../support/use-shop.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** A batch with this number of bytes. Its only operation has an unknown field. */
function ofSize(bytes: number): string {
  const [start, end] = ['{"operations":[{"method":"POST","path":"/pets","body":{"x":"', '"}}]}'];
  return start + 'x'.repeat(bytes - start.length - end.length) + end;
}

describe('the body of a batch', () => {
  it('can have 1 MiB, while other bodies can have 64 KiB', async t => {
    const { api } = await startTestApp(t);
    assertInvalid(await api.post('/batch', ofSize(MIB)));
    const message = assertRejected(await api.post('/batch', ofSize(MIB + 1)), 413, 'payload_too_large');
    assert.equal(message, 'The body is over 1 MiB (1,048,576 bytes): send less, or several requests');
    const other = assertRejected(await api.post('/pets', ofSize(64 * KIB + 1)), 413, 'payload_too_large');
    assert.equal(other, 'The body is over 64 KiB (65,536 bytes): send less, or several requests');
  });

  it('that is announced as too large is rejected before it arrives, and ends the connection', async t => {
    const { adminKey, origin } = await startTestApp(t);
    const head = `Host: shop\r\nX-API-Key: ${adminKey}\r\nContent-Type: application/json\r\n`;
    const bytes = `POST /batch HTTP/1.1\r\n${head}Content-Length: ${MIB + 1}\r\n\r\n`;
    const connection = new RawConnection(origin);
    const [response] = await connection.exchange([{ method: 'POST', bytes }]);
    connection.socket.destroy();
    assertRejected(response!, 413, 'payload_too_large');
    assert.equal(response!.headers.connection, 'close');
  });

  it('is parsed in one turn of the event loop and checked in another if it is larger than other bodies', async t => {
    const { api, app } = await startTestApp(t);
    using turns = new TurnCounter();
    let [parsed, checked] = [Number.POSITIVE_INFINITY, 0];
    const { parse } = JSON;
    t.mock.method(JSON, 'parse', (text: string, ...rest: [] | [never]) => {
      if (text.length > 64 * KIB) parsed = turns.count;
      return parse(text, ...rest);
    });
    const decide = app.keyLimits.decide.bind(app.keyLimits);
    t.mock.method(app.keyLimits, 'decide', (...args: Parameters<typeof decide>) => {
      checked = turns.count;
      return decide(...args);
    });
    assertInvalid(await api.post('/batch', ofSize(64 * KIB + 1)));
    assert.ok(checked > parsed, `${checked} > ${parsed}`);
  });

  it('can have 1 to 1,000 operations', async t => {
    const { api } = await startTestApp(t);
    const operation = { method: 'POST', path: '/store/orders', body: {} };
    for (const [count, status] of [
      [0, 400],
      [1, 200],
      [1_000, 200],
      [1_001, 400],
    ] as const) {
      const response = await api.post('/batch', {
        operations: Array.from({ length: count }, () => operation),
      });
      assert.equal(response.status, status, `${count} operations`);
      assert.equal(response.headers['x-failed-operation'], undefined);
    }
  });

  it('is rejected before it is parsed if it has more parts than 1,000 operations can have', async t => {
    const { api } = await startTestApp(t);
    const names = Array.from({ length: 17_000 }, (_, i) => `"a${i}":1`).join(',');
    for (const part of [`{${names}}`, `[${'{},'.repeat(30_000)}1]`, `[${'[],'.repeat(30_000)}1]`]) {
      assertInvalid(
        await api.post('/batch', `{"operations":[${part}]}`),
        /^The body has more than 16,000 fields, objects and arrays/,
      );
    }
    const { status } = await api.post('/batch', {
      operations: Array.from({ length: 1_000 }, () => ({
        method: 'POST',
        path: '/store/orders',
        body: { id: 1, quantity: 1, shipDate: '2026-12-01T09:00:00Z', complete: false },
        label: undefined,
      })),
    });
    assert.equal(status, 200);
  });
});

describe('an operation of a batch', () => {
  const shop = useShop();
  const pet = { method: 'POST', path: '/pets', body: { name: 'Rex', categoryId: 1 } };
  const rejections: [what: string, operation: unknown, message: RegExp][] = [
    ['no object', 5, /must be a JSON object, but was 5$/],
    ['an unknown field', { ...pet, lable: 'rex' }, /Unknown field `lable`; did you mean `label`\?/],
    ['no path', { method: 'POST' }, /Field `path` is required/],
    [
      'an unknown method',
      { ...pet, method: 'GET' },
      /Field `method` must be one of `POST`, `PUT`, `PATCH`, `DELETE`/,
    ],
    ['a query', { ...pet, path: '/pets?x=1' }, /must be a path that begins with \/ and has no query/],
    ['a bad label', { ...pet, label: '1' }, /Field `label` must begin with a letter/],
    ['an unknown path', { ...pet, path: '/v2/pet' }, /There is nothing at \/v2\/pet; did you mean \/pets\?$/],
    [
      'an operation of keys',
      { ...pet, path: '/keys' },
      /POST \/keys cannot be part of a batch\. Allowed are POST \/pets; PUT, PATCH, DELETE \/pets\/\{petId\}; POST \/categories/,
    ],
    ['a batch', { ...pet, path: '/batch' }, /POST \/batch cannot be part of a batch/],
    ['another method', { ...pet, method: 'PUT' }, /PUT \/pets cannot be part of a batch/],
    [
      'a bad ID',
      { method: 'DELETE', path: '/pets/x' },
      /Path parameter `petId` must be an integer \(int64\), but was "x"/,
    ],
    [
      'a bad body',
      { ...pet, body: { name: 'Rex', categoryId: 0 } },
      /Field `categoryId` must be at least 1, but was 0/,
    ],
    [
      'a remedy',
      { ...pet, body: { ...pet.body, quantity: 1 } },
      /PUT \/store\/inventory\/\{petId\} sets the stock/,
    ],
    [
      'no body',
      { method: 'POST', path: '/pets' },
      /POST \/pets needs a JSON object as its body: add `body`$/,
    ],
    ['`ifMatch` for a new resource', { ...pet, ifMatch: '*' }, /no earlier state: leave `ifMatch` out$/],
    [
      'a body of a DELETE',
      { method: 'DELETE', path: '/pets/1', body: { id: 1 } },
      /has no body: leave it out$/,
    ],
    [
      'a label of a PUT',
      { ...pet, method: 'PUT', path: '/pets/1', label: 'a' },
      /creates no resource .*: leave `label` out/,
    ],
    [
      'a label of an adjustment',
      { method: 'POST', path: '/store/inventory/1/adjustments', body: { delta: 1 }, label: 'a' },
      /creates no resource/,
    ],
    [
      'another ID',
      { ...pet, method: 'PUT', path: '/pets/1', body: { ...pet.body, id: 2 } },
      /must equal the ID in the path, 1, but was 2/,
    ],
    ['a large ID', { method: 'DELETE', path: '/pets/9007199254740993' }, /There is no pet 9007199254740993$/],
    [
      'an unknown label',
      { ...pet, path: '/store/inventory/{max}', method: 'PUT', body: { quantity: 1 } },
      /No earlier operation has the label `max`/,
    ],
    [
      'its own label',
      { ...pet, body: { name: 'Rex', categoryId: { $label: 'rex' } }, label: 'rex' },
      /No earlier operation has the label `rex`/,
    ],
    [
      'a long label with other characters',
      { ...pet, body: { name: 'Rex', categoryId: { $label: `\n\`${'a'.repeat(100_000)}` } } },
      /No earlier operation has the label "\\n`a{50,60}…$/,
    ],
    [
      'a label of another kind in its body',
      { method: 'POST', path: '/store/orders', body: { petId: { $label: 'dogs' } } },
      /The label `dogs` has a `categoryId`, but `petId` is needed: use another label$/,
    ],
    [
      'a label of another kind in its path',
      { method: 'DELETE', path: '/pets/{dogs}' },
      /The label `dogs` has a `categoryId`, but `petId` is needed/,
    ],
    [
      'a label for a name',
      { ...pet, body: { name: { $label: 'dogs' }, categoryId: 1 } },
      /Field `name` must be a string, but was \{"\$label":"dogs"\}/,
    ],
    ['a label twice', { ...pet, label: 'dogs' }, /The label `dogs` belongs to operation 0: choose another/],
  ];

  for (const [what, operation, expected] of rejections) {
    it(`with ${what} is rejected, and nothing is changed`, async () => {
      const first = { method: 'POST', path: '/categories', body: { name: 'Dogs' }, label: 'dogs' };
      const events = await eventsOf(shop, async () => {
        const { status, headers, body } = await shop.api.post('/batch', { operations: [first, operation] });
        assert.ok(status === 400 || status === 404, JSON.stringify(body));
        assert.equal(headers['x-failed-operation'], '1');
        assert.match(body.message, /^Operation 1: /);
        assert.match(body.message, expected);
      });
      assert.deepEqual(events, []);
    });
  }

  it('can refer to a label in each field with an ID, and in the path', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { categoryId: await aCategory(api) });
    const { status, body } = await api.post('/batch', {
      operations: [
        { method: 'POST', path: '/categories', body: { name: 'Dogs' }, label: 'dogs' },
        { ...pet, body: { name: 'Rex', categoryId: { $label: 'dogs' } }, label: 'rex' },
        {
          method: 'PUT',
          path: '/pets/{rex}',
          body: { id: { $label: 'rex' }, name: 'Max', categoryId: { $label: 'dogs' } },
        },
        { method: 'PATCH', path: `/pets/${petId}`, body: { categoryId: { $label: 'dogs' } } },
      ],
    });
    assert.equal(status, 200, JSON.stringify(body));
    const [dogs, rex, max, moved] = body.results;
    assert.deepEqual(max.body, { ...rex.body, name: 'Max' });
    assert.equal(moved.body.categoryId, dogs.body.id);
    const other = await api.post('/batch', {
      operations: [
        { ...pet, body: { name: 'Rex', categoryId: dogs.body.id }, label: 'rex' },
        {
          method: 'PUT',
          path: `/pets/${petId}`,
          body: { id: { $label: 'rex' }, name: 'Max', categoryId: 1 },
        },
      ],
    });
    assert.equal(other.headers['x-failed-operation'], '1');
    assertInvalid(other, /must equal the ID in the path/);
  });

  it('with an API key that was sent by mistake does not repeat it in its error', async t => {
    const { api, adminKey } = await startTestApp(t);
    const operations = [{ method: 'DELETE', path: `/pets/${adminKey}` }];
    for (const atomic of [true, false]) {
      const { text } = await api.post('/batch', { atomic, operations });
      assert.match(text, /Path parameter `petId` must be an integer/);
      assert.ok(!text.includes(adminKey), text);
    }
  });

  it('with a fault in its input is rejected before any operation is executed', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { stock: 0 });
    const order = { method: 'POST', path: '/store/orders', body: { petId } };
    const rename = { method: 'PATCH', path: `/pets/${petId}`, body: {}, ifMatch: 'Rex' };
    const faults: [operation: object, message: RegExp][] = [
      [{ ...pet, body: {} }, /^Operation 1: Field `name` is required/],
      [rename, /^Operation 1: Header `If-Match` must be an ETag/],
    ];
    for (const [fault, message] of faults)
      assertInvalid(await api.post('/batch', { operations: [order, fault] }), message);
  });
});
