import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { before, describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { sample } from '../../../web/portal/samples.js';
import type { Values } from '../../../web/portal/types.d.ts';
import { callOf } from '../../src/portal/call.ts';
import { type Contract, ContractView } from '../../src/portal/contract.ts';
import { documentedOperations } from '../contract/document.ts';
import { readContract } from '../support/contract-file.ts';
import { aCategory } from '../support/factories.ts';
import { listenLocally } from '../support/local-server.ts';
import { isLong } from '../support/long.ts';
import { filledIn } from '../support/operation-values.ts';
import { installClient } from '../support/packed-client.ts';
import { programs, requireProgram } from '../support/sample-languages.ts';
import { startTestApp } from '../support/test-app.ts';

/** Operations with a body are tried below. TEST_LONG=1 tries all operations, which takes minutes. */
const kinds = ['deletePet', 'getContractAsYaml', 'streamEvents'];
const tried = documentedOperations.filter(({ operation }) => isLong || kinds.includes(operation.operationId));

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
  /** The body as it was received, and its value. */
  text: string;
  body: unknown;
  headers: IncomingHttpHeaders;
}

/** A service that records the requests of samples, and rejects them with an error if it gets one. */
async function aService(t: TestContext, error?: { status: number }) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const { pathname: path, searchParams } = new URL(request.url!, 'http://recorder');
    const text = (await buffer(request)).toString();
    const { method, headers } = request;
    received.push({
      method: method!,
      path,
      query: [...searchParams],
      text,
      body: text && JSON.parse(text),
      headers,
    });
    response
      .writeHead(error?.status ?? 200, { 'Content-Type': 'application/json' })
      .end(JSON.stringify(error ?? (method === 'GET' ? [] : {})));
  });
  return { origin: await listenLocally(t, server), received };
}

/** The most time that a sample has, in milliseconds. */
const LIMIT = 120_000;

/** A directory with the client of this project, in which samples run. */
class SampleDirectory implements Disposable {
  readonly #path = mkdtempSync(join(tmpdir(), 'petstore-test-'));

  constructor() {
    symlinkSync(join(installClient().directory, 'node_modules'), join(this.#path, 'node_modules'));
  }

  /** Runs a sample with `key` in its environment. Rejects, with what it printed, if it fails. */
  async run(language: string, code: string, key: string): Promise<string> {
    const [file, ...args] = this.#command(language, code);
    const { stdout } = await promisify(execFile)(file, args, {
      env: environmentWith(key),
      timeout: LIMIT,
    });
    return stdout;
  }

  /** Runs a sample that does not end until it has printed `text`. Rejects, with what it printed, if it ends earlier. */
  async runUntil(text: string, language: string, code: string, key: string): Promise<void> {
    const [file, ...args] = this.#command(language, code);
    // `go run` and `sh` start the program itself, which gets the signal as a member of their group.
    const child = spawn(file, args, {
      env: environmentWith(key),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const end = () => process.kill(-child.pid!);
    const limit = setTimeout(end, LIMIT);
    const closed = once(child, 'close');
    let output = '';
    let found = false;
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', part => {
        output += part;
        if (found || !output.includes(text)) return;
        found = true;
        end();
      });
    await closed;
    clearTimeout(limit);
    if (!found) throw new Error(`The sample ended without ${text}: ${output}`);
  }

  [Symbol.dispose](): void {
    rmSync(this.#path, { recursive: true });
  }

  #command(language: string, code: string): [string, ...string[]] {
    const { file, command } = programs[language]!;
    const path = join(this.#path, file);
    writeFileSync(path, code);
    return [...command, path];
  }
}

function environmentWith(key: string): Record<string, string | undefined> {
  const { PATH, HOME } = process.env;
  return { PATH, HOME, KEY: key };
}

describe('the samples as programs', () => {
  before(() => {
    for (const language of languages) requireProgram(language);
  });

  for (const language of languages)
    it(`in ${language} do what their operations do`, async t => {
      // Some operations work only once: names are unique, and a key has one request for a plan.
      const shop = await startTestApp(t, {
        alone: false,
        // The host of every webhook resolves to this machine, on whose port nothing listens.
        environment: { PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' },
        webhooks: { resolve: async () => [{ address: '127.0.0.1', family: 4 }] },
      });
      using directory = new SampleDirectory();
      for (const listed of tried)
        await t.test(listed.operation.operationId, async () => {
          const operation = view.operation(listed.operation.operationId)!;
          const call = callOf(view, operation);
          const { parameters, body } = await filledIn(shop.api, listed);
          const texts = Object.entries(parameters).map(([name, id]) => [name, String(id)]);
          if (call.returns === 'stream') {
            await aCategory(shop.api);
            texts.push(['cursor', '0']);
          }
          await shop.app.db.numberEvents();
          const values = { parameters: Object.fromEntries(texts), body: body && JSON.stringify(body) };
          const code = sample(language, call, values, shop.origin);
          if (call.returns !== 'stream') await directory.run(language, code, shop.adminKey);
          else await directory.runUntil('category.created', language, code, shop.adminKey);
        });
    });

  for (const language of languages)
    it(`in ${language} send every value unchanged`, async t => {
      const { origin, received } = await aService(t);
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
      // A filter with several values is repeated, or has commas between them.
      const query = listed.query.flatMap(([name, value]) =>
        name === 'status' ? value.split(',').map(one => [name, one]) : [[name, value]],
      );
      assert.deepEqual(query, [
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

      const json = '{"n":9007199254740993,"n":1e400,"t":"\\u00e9 \\" $x"}';
      if (language !== 'typescript') {
        const typed = await send('createCategory', { parameters: {}, body: json });
        assert.deepEqual([typed.text, typed.headers['content-type']], [json, 'application/json']);
      }

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
      const error = { code: 'insufficient_scope', message: 'The key lacks a scope', status: 403 };
      const { origin } = await aService(t, error);
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
