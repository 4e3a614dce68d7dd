import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { languages, sample } from '../../../web/portal/samples.js';
import type { Values } from '../../../web/portal/types.d.ts';
import { callOf, exampleOf, exampleValues } from '../../src/portal/call.ts';
import { type Contract, ContractView, type Operation } from '../../src/portal/contract.ts';
import { runCurl, runJavaScript, type SampleRequest } from '../support/code-samples.ts';
import { readContract } from '../support/contract-file.ts';

const view = new ContractView(readContract<Contract>());
const BASE = 'http://127.0.0.1:8080';

function code(language: string, operation: Operation, values: Values = exampleValues(operation)): string {
  return sample(language, callOf(view, operation), values, BASE);
}

/** The request that the document describes with its examples. */
function expectedRequest({ method, path, parameters, isSecured, body }: Operation): SampleRequest {
  const examples = new Map(parameters.map(parameter => [parameter.name, exampleOf(parameter)]));
  return {
    method,
    url: BASE + path.replace(/\{(\w+)\}/g, (_, name) => examples.get(name)!),
    headers: {
      ...(isSecured && { 'X-API-Key': 'the key' }),
      ...(method === 'POST' && isSecured && { 'Idempotency-Key': 'an ID' }),
      ...(body && { 'Content-Type': body.type }),
    },
    body: body?.media.example,
  };
}

describe('the samples of each operation', () => {
  for (const operation of view.operations) {
    it(`send the request of the document: ${operation.method} ${operation.path}`, async () => {
      const expected = expectedRequest(operation);
      assert.deepEqual(runCurl(code('curl', operation), 'the key'), expected);
      assert.deepEqual(await runJavaScript(code('javascript', operation), 'the key'), expected);
      const [, method = 'GET'] = /CURLOPT_CUSTOMREQUEST => '(\w+)'/.exec(code('php', operation)) ?? [];
      assert.equal(method, operation.method);
      assert.ok(code('go', operation).includes(`NewRequest("${operation.method}"`));
      for (const language of Object.keys(languages)) {
        const text = code(language, operation);
        assert.ok(text.includes(operation.path.split('{')[0]!) || language === 'typescript', language);
        assert.doesNotMatch(text, /undefined|\[object|\$KEY'|NaN/, language);
      }
    });
  }

  it('read a stream as it arrives', () => {
    const stream = view.operation('streamEvents')!;
    assert.match(code('curl', stream), /^curl -N /);
    assert.match(code('javascript', stream), /for await \(const text of response\.body/);
    assert.match(code('typescript', stream), /for await \(const item of store\.events\.subscribe\(\)\)/);
    assert.match(code('python', stream), /stream=True.*iter_lines/s);
    assert.match(code('php', stream), /CURLOPT_WRITEFUNCTION/);
    assert.match(code('go', stream), /io\.Copy\(os\.Stdout, response\.Body\)/);
  });
});

describe('the samples of a filled form', () => {
  const list = view.operation('listPets')!;
  const place = view.operation('placeOrder')!;

  it('have its values, encoded for the URL, with several values of a list', async () => {
    const values = {
      parameters: { q: "O'Malley & co", status: 'available, sold', limit: '3', count: 'true' },
    };
    const { url } = runCurl(code('curl', list, values), 'the key');
    assert.equal(url, `${BASE}/pets?q=O%27Malley+%26+co&status=available&status=sold&limit=3&count=true`);
    assert.equal((await runJavaScript(code('javascript', list, values), 'the key')).url, url);
    assert.ok(
      code('typescript', list, values).includes(
        "store.pets.list({\n  q: 'O\\'Malley & co',\n  status: ['available', 'sold'],\n  limit: 3,\n  count: true,\n})",
      ),
    );
  });

  it('have values that are no exact numbers as they were typed', async () => {
    const remove = view.operation('deletePet')!;
    for (const petId of ['abc', '9007199254740993', '1e3', '007', '-0', 'NaN', '%31']) {
      const values = { parameters: { petId } };
      const url = `${BASE}/pets/${encodeURIComponent(petId)}`;
      assert.equal(runCurl(code('curl', remove, values), 'the key').url, url);
      assert.equal((await runJavaScript(code('javascript', remove, values), 'the key')).url, url);
      assert.ok(code('typescript', remove, values).includes(`store.pets.delete('${petId}')`), petId);
    }
    const several = { parameters: { id: '1,2,' } };
    assert.equal(runCurl(code('curl', list, several), 'the key').url, `${BASE}/pets?id=1&id=2&id=`);
    assert.ok(code('typescript', list, several).includes("store.pets.list({ id: [1, 2, ''] })"));
  });

  it('have the options of the client', () => {
    const values = { parameters: { petId: '7', 'If-Match': '"9c1e"' }, body: '{"name":"Rex"}' };
    const changed = code('typescript', view.operation('changePet')!, values);
    assert.match(changed, /store\.pets\.update\(7, \{ name: 'Rex' \}, \{\s*ifMatch: '"9c1e"'/);
    const withoutBody = { parameters: { keyId: '7', 'Idempotency-Key': 'mine' } };
    const rotated = code('typescript', view.operation('rotateApiKey')!, withoutBody);
    assert.match(rotated, /store\.keys\.rotate\(7, undefined, \{ idempotencyKey: 'mine' \}\)/);
  });

  it('have all filters and headers of a stream', () => {
    const parameters = {
      type: 'pet.created, order.*',
      subject: 'pets/1',
      actor: 'keys/2',
      cursor: '7',
      'Last-Event-ID': '9',
      'X-Request-Id': 'till/7',
    };
    const text = code('typescript', view.operation('streamEvents')!, { parameters });
    assert.match(text, /types: \['pet\.created', 'order\.\*'\],\s*subject: 'pets\/1',\s*actor: 'keys\/2',/);
    assert.match(text, /from: '9',/);
    assert.match(text, /headers: \{ 'X-Request-Id': 'till\/7' \}/);
  });

  it('have values of every kind in every language', () => {
    const body = JSON.stringify({
      text: `it's "x" \\ $y\n`,
      none: null,
      yes: true,
      list: [1, []],
      empty: {},
    });
    const values = { parameters: {}, body };
    assert.deepEqual(runCurl(code('curl', place, values), 'the key').body, JSON.parse(body));
    assert.ok(code('python', place, values).includes(`"text": "it's \\"x\\" \\\\ $y\\n"`));
    assert.ok(code('python', place, values).includes('"none": None'));
    assert.ok(code('python', place, values).includes('"yes": True'));
    assert.ok(code('php', place, values).includes(`"text": "it's \\"x\\" \\\\ $y\\n"`));
    assert.ok(code('php', place, values).includes('"empty": {}'));
    assert.ok(code('go', place, values).includes('`{"text":"it\'s \\"x\\" \\\\ $y\\n","none":null'));
  });

  it('have a field named __proto__', async () => {
    const body = '{"__proto__":{"a":1}}';
    const values = { parameters: {}, body };
    assert.equal(JSON.stringify(runCurl(code('curl', place, values), 'the key').body), body);
    const sent = await runJavaScript(code('javascript', place, values), 'the key');
    assert.equal(JSON.stringify(sent.body), body);
    assert.ok(code('typescript', place, values).includes("create({ ['__proto__']: { a: 1 } })"));
    assert.ok(code('python', place, values).includes('{"__proto__": {"a": 1}}'));
  });

  it('have a body as it was typed if JavaScript would change a number or drop a field', () => {
    const values = { parameters: {}, body: '{"n": 9007199254740993, "n": 1e400, "t": "a \\" b"}' };
    const sent = '{"n":9007199254740993,"n":1e400,"t":"a \\" b"}';
    assert.ok(code('curl', place, values).includes(`-d '${sent}'`));
    assert.ok(code('php', place, values).includes(`<<<'JSON'\n    ${sent}\n    JSON`));
    assert.ok(code('go', place, values).includes(`strings.NewReader(\`${sent}\`)`));
    assert.match(code('typescript', place, values), /^\/\/ The client cannot send this body:\n/);
  });

  it('have the body null in Python, where `json=None` sends none', () => {
    const sample = code('python', place, { parameters: {}, body: 'null' });
    assert.ok(sample.includes('data="null".encode()'));
    assert.ok(sample.includes('"Content-Type": "application/json"'));
  });

  it('wait longer than the service waits for events', () => {
    const values = { parameters: { wait: '60' } };
    for (const [language, limit] of Object.entries({
      curl: '-m 90',
      javascript: 'timeout(90_000)',
      python: 'timeout=90',
      php: 'CURLOPT_TIMEOUT => 90',
      go: '90 * time.Second',
    }))
      assert.ok(code(language, view.operation('listEvents')!, values).includes(limit), language);
  });

  it('are not made from a body that is not JSON', () => {
    assert.throws(() => code('curl', place, { parameters: {}, body: '{"petId": }' }), SyntaxError);
  });

  it('have the Idempotency-Key of the form, and otherwise a new one for each run', () => {
    const given = { parameters: { 'Idempotency-Key': 'mine' } };
    assert.equal(runCurl(code('curl', place, given), 'the key').headers['Idempotency-Key'], 'mine');
    assert.ok(code('typescript', place, given).includes("idempotencyKey: 'mine'"));
    for (const [language, made] of Object.entries({
      curl: '$(od -An -N8 -tx8 /dev/urandom)',
      javascript: 'crypto.randomUUID()',
      python: 'str(uuid.uuid4())',
      php: 'random_bytes(16)',
      go: 'rand.Read(id)',
    }))
      assert.ok(code(language, place).includes(made), language);
    assert.ok(!code('typescript', place).includes('idempotencyKey'), 'the client makes one by itself');
  });
});
