import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { before, describe, it, type TestContext } from 'node:test';
import { sample } from '../../../web/portal/samples.js';
import type { Values } from '../../../web/portal/types.d.ts';
import { callOf } from '../../src/portal/call.ts';
import { type Contract, ContractView } from '../../src/portal/contract.ts';
import { readContract } from '../support/contract-file.ts';
import { requireProgram } from '../support/sample-languages.ts';
import { runSamples, SampleDirectory } from '../support/sample-programs.ts';

/** scripts/run-samples.ts runs all operations in all languages, which takes minutes. */
const kinds = ['createPet', 'deletePet', 'getContractAsYaml', 'streamEvents'];

/** Those whose programs every machine with the tests has, or for example SAMPLE_LANGUAGES=php,go. */
const languages = (process.env.SAMPLE_LANGUAGES ?? 'curl,javascript,typescript,python').split(',');

/** The client of this project accepts only keys with these characters. */
const KEY = 'psk_test';

/** What a shell and the six languages treat as syntax. */
const HOSTILE = `it's "x" \\ \\' \\" $KEY \${KEY} $(exit 3) \`exit 4\` {$x} %s #{x} \r\n\t?> */ // 'a'. 🐶 é\u2028\uFEFF\u0000\u0007\\`;

const view = new ContractView(readContract<Contract>());

interface Received {
  method?: string;
  path: string;
  query: [string, string][];
  body: unknown;
  headers: IncomingHttpHeaders;
}

/** A service that records the requests of samples. */
async function aRecorder(t: TestContext): Promise<{ origin: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://recorder');
    const text = (await buffer(request)).toString();
    const { method, headers } = request;
    received.push({
      method: method!,
      path: pathname,
      query: [...searchParams],
      body: text && JSON.parse(text),
      headers,
    });
    response.setHeader('Content-Type', 'application/json').end(method === 'GET' ? '[]' : '{}');
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await new Promise(resolve => server.once('listening', resolve));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

describe('the samples as programs', () => {
  before(() => {
    for (const language of languages) requireProgram(language);
  });

  for (const language of languages)
    it(`in ${language} do what their operations do`, async () => {
      const { count, failures } = await runSamples(language, kinds);
      assert.deepEqual([count, failures], [kinds.length, []]);
    });

  for (const language of languages)
    it(`in ${language} send every value unchanged`, async t => {
      const { origin, received } = await aRecorder(t);
      using directory = new SampleDirectory();
      const send = async (id: string, values: Values) => {
        const code = sample(language, callOf(view, view.operation(id)!), values, origin);
        await directory.run(language, code, KEY);
        const request = received.pop();
        assert.ok(request, `${language} sends no request: ${code}`);
        assert.equal(request.headers['x-api-key'], KEY);
        return request;
      };

      const listed = await send('listPets', { parameters: { q: HOSTILE, status: 'available, sold' } });
      assert.equal(listed.method, 'GET');
      assert.deepEqual(listed.query, [
        ['q', HOSTILE],
        ['status', 'available'],
        ['status', 'sold'],
      ]);

      const body = {
        name: HOSTILE,
        [HOSTILE]: [null, true, 1.5, {}, []],
        deep: { list: [{ name: HOSTILE }] },
      };
      const created = await send('createCategory', { parameters: {}, body: JSON.stringify(body) });
      assert.deepEqual([created.method, created.path, created.body], ['POST', '/categories', body]);
      assert.match(String(created.headers['idempotency-key']), /^[\w-]{16,}$/);

      const tag = `"it's \\ $KEY $(exit 3) \`exit 4\` {$x} %s"`;
      const changed = await send('changeCategory', {
        parameters: { categoryId: '7', 'If-Match': tag, 'X-Request-Id': 'import/7' },
        body: JSON.stringify({ description: null }),
      });
      assert.deepEqual([changed.method, changed.path], ['PATCH', '/categories/7']);
      assert.deepEqual(changed.body, { description: null });
      assert.equal(changed.headers['if-match'], tag);
      assert.equal(changed.headers['x-request-id'], 'import/7');
      assert.equal(changed.headers['content-type'], 'application/json');
    });

  for (const language of languages)
    it(`in ${language} fail with the code and the message of an error`, async t => {
      const { origin } = await aRejectingService(t);
      using directory = new SampleDirectory();
      for (const id of ['listPets', 'streamEvents']) {
        const code = sample(language, callOf(view, view.operation(id)!), { parameters: {} }, origin);
        await assert.rejects(directory.run(language, code, KEY), ({ stdout, stderr }) => {
          assert.match(`${stdout}${stderr}`, /insufficient_scope/);
          assert.match(`${stdout}${stderr}`, /The key lacks a scope/);
          return true;
        });
      }
    });
});

/** A service that rejects every request. */
async function aRejectingService(t: TestContext): Promise<{ origin: string }> {
  const error = { code: 'insufficient_scope', message: 'The key lacks a scope', status: 403 };
  const server = createServer((_request, response) => {
    response.writeHead(403, { 'Content-Type': 'application/json; charset=utf-8' }).end(JSON.stringify(error));
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await new Promise(resolve => server.once('listening', resolve));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
