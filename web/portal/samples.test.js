// @ts-check
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { operationsOf } from './contract.js';
import { asCurl, asJavaScript, sampleRequest } from './samples.js';

/** @type {import('./types.d.ts').Contract} */
const contract = parse(readFileSync(join(import.meta.dirname, '../../openapi.yaml'), 'utf8'));

const ORIGIN = 'http://127.0.0.1:8080';
const KEY = 'psk_test';

/**
 * The arguments that a shell passes to curl.
 *
 * @param {string} command
 */
function argumentsOf(command) {
  const script = `curl() { for argument in "$@"; do printf '%s\\0' "$argument"; done; }\n${command}`;
  const { stdout, stderr, status } = spawnSync('sh', ['-euc', script], {
    encoding: 'utf8',
    env: { ...process.env, KEY },
  });
  assert.equal(status, 0, stderr);
  return stdout.split('\0').slice(0, -1);
}

/**
 * The request that a curl command makes.
 *
 * @param {string} command
 */
function requestOfCurl(command) {
  const [url, ...rest] = argumentsOf(command).filter((_, i, all) => all[i] !== '-X' && all[i - 1] !== '-X');
  /** @type {Record<string, string>} */
  const headers = {};
  let body;
  for (let i = 0; i < rest.length; i += 2) {
    const value = rest[i + 1] ?? '';
    if (rest[i] === '-d') body = value;
    else headers[value.slice(0, value.indexOf(':'))] = value.slice(value.indexOf(':') + 2);
  }
  const method = / -X (\w+)/.exec(command)?.[1] ?? 'GET';
  return { method, url, headers, body };
}

/**
 * The request that a sample in JavaScript makes.
 *
 * @param {string} code
 */
async function requestOfJavaScript(code) {
  /** @type {unknown[][]} */
  const calls = [];
  /** @param {string} url @param {RequestInit} options */
  const fetch = async (url, { method = 'GET', headers = {}, body } = {}) => {
    calls.push([{ method, url, headers, body }]);
    return { status: 200, json: async () => ({}), text: async () => '' };
  };
  const run = new Function('fetch', 'process', 'console', `return (async () => {\n${code}\n})();`);
  /** @type {unknown[][]} */
  const printed = [];
  await run(
    fetch,
    { env: { KEY } },
    { log: (/** @type {unknown[]} */ ...values) => void printed.push(values) },
  );
  assert.equal(calls.length, 1);
  assert.equal(printed.length, 1);
  return calls[0]?.[0];
}

describe('the samples of', () => {
  for (const { path, method, operation } of operationsOf(contract)) {
    it(`${method.toUpperCase()} ${path} make the request of the document's examples`, async () => {
      const request = sampleRequest(contract, path, method, ORIGIN);
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, value.replace('$KEY', KEY)]),
      );
      const expected = { ...request, headers, body: request.body };
      assert.doesNotMatch(request.url, /[{}]|undefined/);
      assert.equal('X-API-Key' in headers, operation.security.length > 0);
      const [[type, media] = []] = Object.entries(operation.requestBody?.content ?? {});
      assert.deepEqual(request.body && JSON.parse(request.body), media?.example);
      assert.equal(headers['Content-Type'], media?.example && type);
      assert.deepEqual(requestOfCurl(asCurl(request)), expected);
      assert.deepEqual(await requestOfJavaScript(asJavaScript(request, true)), expected);
      assert.deepEqual(await requestOfJavaScript(asJavaScript(request, false)), expected);
    });
  }
});

describe('a sample', () => {
  it('escapes quotes, backslashes and line breaks', async () => {
    const text = `O'Hara "the \\ vet"\n$HOME \`x\``;
    const request = {
      method: 'POST',
      url: `${ORIGIN}/pets?name=O'Hara`,
      headers: { 'X-Note': `it's "so" \\ $HOME` },
      body: JSON.stringify({ text }),
    };
    assert.deepEqual(requestOfCurl(asCurl(request)), request);
    assert.deepEqual(await requestOfJavaScript(asJavaScript(request, true)), {
      ...request,
      body: JSON.stringify({ text }),
    });
  });
});
