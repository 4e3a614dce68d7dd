import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type ErrorCode, errorCatalogue } from '../../src/contract/error-catalogue.ts';
import { assertIsErrorMessage } from '../support/contract.ts';
import { assertInvalid } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { document, documentedOperations, responsesOf } from './document.ts';

const codes = Object.keys(errorCatalogue) as ErrorCode[];

/** The errors for a path or method that is not an operation: no operation can document them. */
const ofNoOperation: ErrorCode[] = ['route_not_found', 'method_not_allowed', 'method_not_implemented'];

interface DocumentedError {
  where: string;
  code: string;
  status: number;
  example: { code: string; status: number };
}

const documented: DocumentedError[] = documentedOperations.flatMap(({ operation }) =>
  responsesOf(operation).flatMap(([status, { content }]) =>
    Object.entries(content?.['application/json']?.examples ?? {}).map(([code, { value }]) => ({
      where: `${operation.operationId} ${status}`,
      code,
      status: Number(status),
      example: value as DocumentedError['example'],
    })),
  ),
);

describe('the error catalogue', () => {
  it('is in openapi.yaml, complete and with nothing else', () => {
    const expected = Object.fromEntries(
      codes.map(code => [
        code,
        { status: errorCatalogue[code].status, description: errorCatalogue[code].meaning },
      ]),
    );
    assert.deepEqual(document['x-error-codes'], expected);
  });

  it('has each code as an example of an error of an operation', () => {
    const shown = new Set([...documented.map(({ code }) => code), ...ofNoOperation]);
    assert.deepEqual([...shown].toSorted(), codes.toSorted());
    for (const code of ofNoOperation) assert.ok(!documented.some(error => error.code === code), code);
  });

  it('has one status for each code, and every response with that example has this status', () => {
    assert.ok(documented.length > 200);
    for (const { where, code, status, example } of documented) {
      assert.deepEqual([example.code, example.status], [code, status], where);
      assert.equal(status, errorCatalogue[code as ErrorCode].status, `${where}: ${code}`);
    }
  });

  it('explains each code in a sentence', () => {
    for (const code of codes) {
      assert.match(code, /^[a-z]+(_[a-z]+)+$/);
      assert.match(errorCatalogue[code].meaning, /^[A-Z].{10,120}\.$/, code);
    }
  });

  it('has no code that the service never returns', () => {
    const source = join(import.meta.dirname, '../../src');
    const thrown = new Set(
      globSync('**/*.ts', { cwd: source, exclude: ['**/*.test.ts'] }).flatMap(file => {
        const text = readFileSync(join(source, file), 'utf8');
        // Thrown, or returned for an error that node:http reports (http/unreadable.ts).
        return [...text.matchAll(/(?:new ApiError\(|[A-Z]: \[)\s*'(\w+)',/g)].map(([, code]) => code!);
      }),
    );
    assert.deepEqual([...thrown].toSorted(), codes.toSorted());
  });
});

function errorExamples(node: unknown): { code: string; message: string; status: number }[] {
  if (typeof node !== 'object' || node === null) return [];
  if ('code' in node && 'message' in node && 'status' in node && typeof node.status === 'number') {
    return [{ code: String(node.code), message: String(node.message), status: node.status }];
  }
  return Object.values(node).flatMap(errorExamples);
}

describe('an error message', () => {
  it('begins with a capital letter and ends without a full stop in every example of the contract', () => {
    const examples = errorExamples(document);
    assert.ok(examples.length > 50, `${examples.length} examples`);
    for (const { code, message } of examples) assertIsErrorMessage(message, code);
  });

  it('that breaks one of these rules fails the check of every response in the suite', () => {
    assertIsErrorMessage('Field `name` is required', 'good');
    for (const message of [
      'field `name` is required',
      '`name` is required',
      'There is no pet 42.',
      '',
      'No \u202e',
      'No \u009b',
    ]) {
      assert.throws(() => assertIsErrorMessage(message, 'bad'), assert.AssertionError, message);
    }
  });

  it('shows characters that are invisible, reorder it or control a terminal as escapes, wherever it repeats them', async t => {
    const { api } = await startTestApp(t);
    for (const character of ['\u202e', '\u200b', '\ufeff', '\u009b', '\u007f']) {
      const text = `x${character}x`;
      const encoded = encodeURIComponent(text);
      const batch = (operation: object) => api.post('/batch', { operations: [operation] });
      const origins = [`https://${text}.example`];
      const key = { name: 'Page', plan: 'free', kind: 'publishable', scopes: ['pets:read'], origins };
      const responses = [
        await api.get(`/events?type=${encoded}`),
        await api.get(`/events?subject=${encoded}`),
        await api.get(`/pets?${encoded}=1`),
        await api.get(`/pets?sort=${encoded}`),
        await api.get(`/pets?cursor=${encoded}`),
        await api.get(`/pets/${encoded}`),
        await api.post('/keys', key),
        await api.post('/categories', { name: text, [text]: 1 }),
        await api.post('/categories', `{"${text}":1,"${text}":2}`),
        await api.post('/categories', `{"name":${text}}`),
        await api.post('/webhooks', { url: `https://1.1.1.1/${text}`, types: [text] }),
        await batch({ method: 'DELETE', path: `/${text}` }),
        await batch({ method: 'POST', path: `/pets/${text}` }),
        await batch({ method: 'POST', path: '/pets', label: text }),
        await batch({ method: text, path: '/pets' }),
      ];
      const escaped = `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
      for (const response of responses) {
        const message = assertInvalid(response);
        assert.ok(!message.includes(character), message);
        // The parser's message has only the part of the body around a fault, and names the character.
        if (!/not valid JSON/.test(message)) assert.ok(message.includes(escaped), `${escaped} in ${message}`);
      }
    }
  });
});
