import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTestApp } from '../support/test-app.ts';

describe('the error of an operation with labels', () => {
  for (const atomic of [true, false]) {
    it(`states which label has an ID in its message: ${atomic ? 'atomic' : 'independent'}`, async t => {
      const { api } = await startTestApp(t);
      const adjustments = '/store/inventory/{rex}/adjustments';
      const operations = [
        { method: 'POST', path: '/categories', body: { name: 'Dogs' }, label: 'dogs' },
        { method: 'POST', path: '/pets', body: { name: 'Rex', categoryId: { $id: 'dogs' } }, label: 'rex' },
        { method: 'POST', path: adjustments, body: { delta: 2_147_483_647 } },
      ];
      const { body } = await api.post('/batch', { atomic, operations });
      const message: string = atomic ? body.message : body.results[2].error.message;
      const [, petId] = /Pet (\d+) has/.exec(message) ?? [];
      assert.match(message, new RegExp(`lower the stock first \\(\`rex\` was ${petId}\\)$`));
    });
  }

  it('has no label if its message has no ID', async t => {
    const { api } = await startTestApp(t);
    const body = { name: 'Rex', categoryId: { $id: 'dogs' } };
    const failed = await api.post('/batch', {
      operations: [
        { method: 'POST', path: '/categories', body: { name: 'Dogs' }, label: 'dogs' },
        { method: 'PATCH', path: '/categories/{dogs}', body: {}, ifMatch: '"other"' },
        { method: 'POST', path: '/pets', body },
      ],
    });
    assert.equal(failed.body.code, 'precondition_failed');
    assert.doesNotMatch(failed.body.message, / was \d/);
  });
});
