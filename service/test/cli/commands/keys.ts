import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { valuesOf } from '../../support/values.ts';
import type { CommandRuns } from './runs.ts';

export function keyCommands({ json, one, shop, petstore, directory }: CommandRuns): void {
  it('manages API keys', async () => {
    const created = await one(
      'keys',
      'create',
      'Shop',
      '--plan',
      'pro',
      '--scope',
      'pets:read',
      '--scope',
      'orders:read',
    );
    assert.match(String(created.key), /^psk_/);
    const { key: _, ...shown } = created;
    const id = `${created.id}`;
    assert.deepEqual(await json('keys', 'get', id), [shown]);
    const longAgo = Date.now() - 91 * 86_400_000;
    await shop.app.db.run('UPDATE api_keys SET created_at = ? WHERE id = ?', [longAgo, created.id]);
    const listed = await json('keys', 'list', '--revoked', 'false');
    assert.deepEqual(valuesOf(listed, 'unused'), [false, true]);
    assert.equal((await one('keys', 'update', id, '--plan', 'business')).plan, 'business');
    const rotated = await one('keys', 'rotate', id, '--grace', '60');
    assert.notEqual(rotated.key, created.key);
    assert.equal((await one('keys', 'usage', id)).keyId, created.id);
    await shop.app.keyLimits.flush();
    const [busiest] = await json('keys', 'usage');
    assert.deepEqual([busiest!.keyId, busiest!.name, busiest!.refused], [1, 'Administrator', 0]);
    assert.ok(Number(busiest!.admitted) >= 5);
    for (const [name, outcome] of Object.entries({ reset: 'reset', unban: 'unbanned', delete: 'revoked' }))
      assert.deepEqual(await json('keys', name, id), [{ id: created.id, outcome }]);
    const file = join(directory, 'leaks.json');
    const leaked = await one('keys', 'create', 'Leaked', '--plan', 'free', '--scope', 'pets:read');
    // The file is read in parts of 64 KiB. The end of the first one is a longer word than a secret, and one secret is in two parts.
    const longer = `xpsk_${'A'.repeat(38)}`;
    const first = `"${created.key}" and ${created.key}.\n`.padEnd(65_536 - 51) + longer;
    writeFileSync(file, `${first.padEnd(2 * 65_536 - 20)}"${leaked.key}"`);
    const reported = await one('keys', 'report-leak', file, '--source', 'A log');
    assert.deepEqual(reported, { file, found: 2, wellFormed: 2 });
    assert.equal((await shop.api.as(String(leaked.key)).get('/pets')).status, 401);
    const quotas = { perMinute: 9000, perDay: 90_000 };
    const large = await one(
      'keys',
      'create',
      'Large',
      '--plan',
      'enterprise',
      '--scope',
      'admin',
      '--network',
      '203.0.113.0/24',
      '--per-minute',
      '9000',
      '--per-day',
      '90000',
    );
    assert.deepEqual([large.quotas, large.allowedNetworks], [quotas, ['203.0.113.0/24']]);
  });

  it('requests a plan, and decides requests', async () => {
    const { keyId } = await one('account');
    const enterprise = ['enterprise', '--per-minute', '9000', '--per-day', '90000'];
    const first = await one('account', 'upgrade', 'business', '--note', 'More shops');
    assert.deepEqual([first.keyId, first.note, first.status], [keyId, 'More shops', 'open']);
    assert.deepEqual(await json('keys', 'requests', '--status', 'open'), [first]);
    const declined = await one('keys', 'decline', `${first.id}`, '--message', 'Enterprise');
    assert.deepEqual([declined.status, declined.message], ['declined', 'Enterprise']);
    const second = await one('account', 'upgrade', ...enterprise);
    assert.equal((await one('keys', 'approve', `${second.id}`)).status, 'approved');
    assert.deepEqual((await one('keys', 'get', `${keyId}`)).quotas, { perMinute: 9000, perDay: 90_000 });
    assert.deepEqual(valuesOf(await json('keys', 'requests', '--key', `${keyId}`), 'id'), [
      second.id,
      first.id,
    ]);
    for (const args of [['enterprise'], ['pro', '--per-day', '5']])
      assert.match(
        (await petstore.run(['account', 'upgrade', ...args])).stderr,
        /belong to the plan enterprise/,
      );
  });
}
