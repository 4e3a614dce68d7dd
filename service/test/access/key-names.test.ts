import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTestApp } from '../support/test-app.ts';
import { onPostgres } from '../support/test-store.ts';

describe('a key is found by the start of its name', () => {
  it('after it was renamed, also in another case', async t => {
    const { api, app } = await startTestApp(t);
    const { id } = (await api.post('/keys', { name: 'Web shop', plan: 'free', scopes: ['pets:read'] })).body;
    const found = async (name: string) =>
      (await api.get(`/keys?name=${encodeURIComponent(name)}`)).body.map((key: { id: number }) => key.id);
    assert.deepEqual(await found('WEB'), [id]);
    await api.patch(`/keys/${id}`, { name: 'Ärzte' });
    assert.deepEqual([await found('web'), await found('är')], [[], [id]]);
    await api.patch(`/keys/${id}`, { name: 'ÄRZTE' });
    // A database whose locale does not know these letters needs the sweep.
    await app.sweeper.run();
    assert.deepEqual(await found('är'), [id]);
  });

  it('when a replica of the version before, which does not know the column, created or renamed it', async t => {
    const { api, app } = await startTestApp(t);
    const { id } = (await api.post('/keys', { name: 'Web shop', plan: 'free', scopes: ['pets:read'] })).body;
    await app.db.write(async tx => {
      await tx.run(
        `INSERT INTO api_keys (name, hash, plan, scopes, created_at)
         SELECT 'Älter', ${onPostgres ? "sha256('a')" : 'zeroblob(32)'}, 'free', 'pets:read', 0`,
      );
      // SQLite has no replicas: every process that writes has the current version.
      if (onPostgres) await tx.run("UPDATE api_keys SET name = 'Till' WHERE id = ?", [id]);
    });
    await app.sweeper.run();
    const names = (await api.get('/keys?sort=name')).body.map(({ name }: { name: string }) => name);
    assert.deepEqual(names, ['Administrator', onPostgres ? 'Till' : 'Web shop', 'Älter']);
    assert.equal((await api.get('/keys?name=%C3%A4')).body.length, 1);
  });
});
