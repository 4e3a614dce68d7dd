import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTestApp } from '../support/test-app.ts';

describe('a key is found by the start of its name', () => {
  it('after it was renamed, also in another case', async t => {
    const { api } = await startTestApp(t);
    const { id } = (await api.post('/keys', { name: 'Web shop', plan: 'free', scopes: ['pets:read'] })).body;
    const found = async (name: string) =>
      (await api.get(`/keys?name=${encodeURIComponent(name)}`)).body.map((key: { id: number }) => key.id);
    assert.deepEqual(await found('WEB'), [id]);
    await api.patch(`/keys/${id}`, { name: 'Ärzte' });
    assert.deepEqual([await found('web'), await found('är')], [[], [id]]);
    await api.patch(`/keys/${id}`, { name: 'ÄRZTE' });
    assert.deepEqual(await found('är'), [id]);
  });
});
