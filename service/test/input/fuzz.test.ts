import assert from 'node:assert/strict';
import { before, describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { MINUTE } from '../../src/kit/clock.ts';
import type { Client } from '../support/client.ts';
import { buildConsole } from '../support/console-page.ts';
import { aPet } from '../support/factories.ts';
import { sized } from '../support/long.ts';
import { Random } from '../support/random.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { type AnyRequest, anyRequest } from './any-request.ts';
import { type FuzzShop, sendAny, startFuzzShop } from './fuzz-shop.ts';

/** Number of requests, rounded to whole batches. `FUZZ_REQUESTS=100000 node --test …` searches longer. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? sized(500, 5_000));

/** The suite always sends the same requests, a longer search random ones. A failure prints its seed, to repeat it. */
const SEED = Number(process.env.FUZZ_SEED ?? (process.env.FUZZ_REQUESTS ? Date.now() % 2 ** 31 : 1));

/** Requests per shop: a small shop stays quick. */
const BATCH = 500;

/** The minimum share of successful requests: a test whose requests all fail proves little. */
const MIN_SUCCESSES = 0.2;

/** A shop with a pet, an order for it, and a client. */
async function startShop(t: TestContext): Promise<TestApp & { client: Client & { key: string } }> {
  const shop = await startTestApp(t);
  await aPet(shop.api);
  await shop.api.post('/store/orders', { petId: 1 });
  return { ...shop, client: await shop.clientWith({}) };
}

/** A warning or an error in the log is a fault, even if it happened during another client's request. */
function assertNoFault({ logLines }: TestApp): void {
  // Endpoints that fail are expected here, and their webhooks can get other URLs.
  const expected = /^(Webhook fails|Webhook works again|Webhook disabled|Redis is back: .*)$/;
  const faults = logLines().filter(
    ({ level, msg, reason }) =>
      (level as number) > 30 &&
      !expected.test(String(msg)) &&
      // All tests share this Redis and the processors.
      reason !== 'Redis did not respond within 1000 ms',
  );
  assert.deepEqual(faults, []);
}

function show({ method, target, headers, body }: AnyRequest): string {
  const sent = `${method} ${target} ${JSON.stringify(headers)} ${body?.toString() ?? ''}`;
  return sent.length > 600 ? `${sent.slice(0, 600)}… (${sent.length} characters)` : sent;
}

/** The status and the problem of the response: none, a 5xx, a broken contract, or a missing response. */
async function outcomeOf(shop: FuzzShop, request: AnyRequest): Promise<{ status: number; problem: string }> {
  try {
    const status = await sendAny(shop, request);
    return { status, problem: status < 500 ? '' : `${status}` };
  } catch (error) {
    return { status: 0, problem: (error as Error).message.slice(0, 600) };
  }
}

before(buildConsole);

describe('any request', () => {
  for (let batch = 0; batch < Math.ceil(REQUESTS / BATCH); batch++) {
    const seed = (SEED + batch) % 2 ** 31;

    it(`to a path of the service gets a response of the contract, never a 5xx: FUZZ_SEED=${seed}`, async t => {
      const shop = await startFuzzShop(t);
      const random = new Random(seed);
      const problems = new Map<string, string>();
      let successes = 0;
      for (let i = 0; i < BATCH; i++) {
        // One minute per request, so that the client stays below its limit.
        shop.clock.advance(MINUTE);
        const request = anyRequest(random, shop.known);
        const { status, problem } = await outcomeOf(shop, request);
        if (status < 400) successes++;
        // Report the same operation and kind of problem once.
        const kind = `${request.operation?.operationId ?? request.target} ${status} ${problem.replace(/.*: /s, '')}`;
        if (problem !== '') problems.set(kind, `${show(request)}\n→ ${problem}`);
      }
      assert.deepEqual([...problems.values()], []);
      assertNoFault(shop);
      assert.ok(successes >= BATCH * MIN_SUCCESSES, `only ${successes} of ${BATCH} succeeded`);
      assert.equal((await shop.client.get('/account')).status, 200);
    });
  }

  it('of edited bytes gets a response of the contract, and no fault of the service', async t => {
    const shop = await startShop(t);
    const key = `Host: shop\r\nX-API-Key: ${shop.client.key}\r\n`;
    const requests = [
      `GET /store/orders?limit=2&complete=true HTTP/1.1\r\n${key}Accept: application/json\r\n\r\n`,
      `POST /categories HTTP/1.1\r\n${key}Content-Type: application/json\r\nContent-Length: 15\r\n\r\n{"name":"Cats"}`,
      'GET /healthz HTTP/1.1\r\nHost: shop\r\nConnection: keep-alive\r\n\r\n',
    ];
    // No digits: a longer Content-Length would make the server wait for more body.
    const noise = fc.string({ maxLength: 2 }).map(text => text.replace(/\d/g, '_'));
    const edits = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 2 }), noise), { maxLength: 2 });
    // Completes a request that an edit has shortened.
    const next = '\r\n\r\nGET /healthz HTTP/1.1\r\nHost: shop\r\n\r\n';
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...requests), edits, async (request, edits) => {
        shop.clock.advance(MINUTE);
        let bytes = request;
        for (const [place, cut, noise] of edits) {
          const at = place % bytes.length;
          bytes = bytes.slice(0, at) + noise + bytes.slice(at + cut);
        }
        const { status } = await exchangeBytes(shop.origin, bytes + next);
        // An edited method is one that the service does not know.
        assert.ok(status < 500 || status === 501, String(status));
      }),
      { numRuns: 150 },
    );
    assertNoFault(shop);
  });
});
