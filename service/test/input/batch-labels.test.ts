import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aPet } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

describe('a label', () => {
  it('can only name what a POST creates, not what it changes', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { stock: 1 });
    const path = `/store/inventory/${petId}/adjustments`;
    const operation = { method: 'POST', path, body: { delta: 1 } };
    const rejected = await api.post('/batch', { operations: [{ ...operation, label: 'rex' }] });
    assert.match(assertRejected(rejected, 400, 'invalid_request'), /creates no resource/);
    assert.equal((await api.post('/batch', { operations: [operation] })).status, 200);
  });
});

describe('the error of an operation of a batch', () => {
  it('never repeats an API key that was sent by mistake', async t => {
    const { api, adminKey } = await startTestApp(t);
    const operations = [{ method: 'DELETE', path: `/pets/${adminKey}` }];
    for (const atomic of [true, false]) {
      const { text } = await api.post('/batch', { atomic, operations });
      assert.match(text, /Path parameter `petId` must be an integer/);
      assert.ok(!text.includes(adminKey), text);
    }
  });
});
