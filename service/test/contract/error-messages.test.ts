import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertIsErrorMessage, contract } from '../support/contract.ts';
import { assertInvalid } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

function errorExamples(node: unknown): { code: string; message: string; status: number }[] {
  if (typeof node !== 'object' || node === null) return [];
  if ('code' in node && 'message' in node && 'status' in node && typeof node.status === 'number') {
    return [{ code: String(node.code), message: String(node.message), status: node.status }];
  }
  return Object.values(node).flatMap(errorExamples);
}

describe('an error message', () => {
  it('begins with a capital letter and ends without a full stop in every example of the contract', () => {
    const examples = errorExamples(contract);
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
