import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { MINUTE } from '../../src/kit/clock.ts';
import type { Client } from '../support/client.ts';
import { aPet } from '../support/factories.ts';
import { filled, type KnownOperation, operations } from '../support/operations.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

const numbers = ['0', '-1', '1', '2', '1.5', '1e3', '9007199254740993', '9223372036854775808'];

const oddText = fc.oneof(
  fc.constantFrom(
    '',
    'null',
    'abc',
    '%00',
    '%ZZ',
    '%ff',
    '__proto__',
    '..',
    "'; DROP TABLE pets",
    ...numbers,
  ),
  fc.string({ maxLength: 20 }),
);

/** Only what node:http is willing to send in a target. */
const inTarget = oddText.map(text => text.replace(/[^\x21-\x7e]/g, '+').replaceAll('#', '%23'));

const parameter = fc
  .tuple(
    fc.constantFrom(
      'id',
      'limit',
      'cursor',
      'sort',
      'name',
      'status',
      'complete',
      'shipDateTo',
      '__proto__',
      'x',
    ),
    inTarget,
  )
  .map(([name, value]) => `${name}=${value}`);

const query = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.array(parameter, { maxLength: 2 }).map(parts => `?${parts.join('&')}`) },
);

const header = fc.tuple(
  fc.constantFrom(
    'accept',
    'api-version',
    'authorization',
    'content-encoding',
    'content-type',
    'expect',
    'idempotency-key',
    'if-match',
    'if-none-match',
    'x-api-key',
    'x-request-id',
  ),
  fc.oneof(
    fc.constantFrom('application/json', 'application/merge-patch+json', '*', '"x"', 'Bearer x', 'gzip', '1'),
    fc.string({ maxLength: 20 }),
  ),
);

/** Methods and path templates: mostly operations, some that are none. */
const place = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.constantFrom(
      ...Object.entries(contract.paths).flatMap(([template, operations]) =>
        Object.keys(operations).map(method => [method.toUpperCase(), template] as const),
      ),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.constantFrom('GET', 'HEAD', 'POST', 'OPTIONS', 'TRACE', 'QUERY', 'PURGE'),
      fc.array(inTarget, { maxLength: 4 }).map(parts => `/${parts.join('/')}`),
    ),
  },
);

const id = fc.oneof(
  fc.constant('1'),
  inTarget.map(text => text.replace(/[/?]/g, '_')),
);

const target = (template: string) =>
  fc.tuple(id, query).map(([id, query]) => template.replace(/\{\w+\}/, id) + query);

/** The example body of the operation with one field more or another, or bytes of any kind. */
const bodyOf = (method: string, template: string) => {
  const path = template.replace(/\{\w+\}/, '1');
  const operation = operationsWithBody.find(known => known.method === method && known.path === path);
  if (!operation) return fc.option(fc.json(), { nil: undefined });
  const { example, properties } = operation;
  const changed = fc
    .tuple(
      fc.oneof(fc.constantFrom(...Object.keys(properties)), oddText),
      fc.oneof(fc.jsonValue(), fc.nat(), oddText),
    )
    .map(([field, value]) => JSON.stringify({ ...example, [field]: value }));
  const damaged = fc.tuple(changed, fc.nat(), fc.string({ maxLength: 3 })).map(([text, place, noise]) => {
    const at = place % text.length;
    return text.slice(0, at) + noise + text.slice(at + 1);
  });
  return fc.oneof(
    { weight: 4, arbitrary: changed },
    damaged,
    fc.json(),
    fc.uint8Array({ maxLength: 50 }),
    fc.constant(undefined),
  );
};

const request = place.chain(([method, template]) =>
  fc.record({
    method: fc.constant(method),
    target: target(template),
    headers: fc.array(header, { maxLength: 1 }).map(headers => Object.fromEntries(headers)),
    body: bodyOf(method, template),
  }),
);

/** A shop with an animal, an order for it, and a client whose key has an ID that no request names. */
async function startShop(t: TestContext): Promise<TestApp & { client: Client & { key: string } }> {
  const shop = await startTestApp(t);
  await aPet(shop.api);
  await shop.api.post('/store/orders', { petId: 1 });
  await shop.clientWith({});
  return { ...shop, client: await shop.clientWith({}) };
}

function assertNoFault({ logLines }: TestApp): void {
  const faults = logLines().filter(({ level }) => (level as number) > 30);
  assert.deepEqual(faults, []);
}

describe('whatever is sent', () => {
  it('as HTTP is answered as the contract says, never with a fault of the service', async t => {
    const shop = await startShop(t);
    await fc.assert(
      fc.asyncProperty(request, async ({ method, target, headers, body }) => {
        // The client fails on an answer that the contract does not document.
        // A minute each, lest the address of the caller use up its limit.
        shop.clock.turn(MINUTE);
        const { status } = await shop.client.send(method, target, { headers, body });
        assert.ok(status < 500);
      }),
      { numRuns: 800 },
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
      fc.asyncProperty(fc.constantFrom(...requests), edits, async (original, edits) => {
        let bytes = original;
        for (const [place, cut, noise] of edits) {
          const at = place % bytes.length;
          bytes = bytes.slice(0, at) + noise + bytes.slice(at + cut);
        }
        const { status } = await exchangeBytes(shop.origin, bytes + next);
        assert.ok(status < 500);
      }),
      { numRuns: 200 },
    );
    assertNoFault(shop);
  });
});
