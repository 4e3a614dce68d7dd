import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { DAY } from '../../../src/kit/clock.ts';
import { valuesOf } from '../../support/values.ts';
import type { CommandRuns } from './runs.ts';

export function keyCommands({ json, one, shop, petstore, directory }: CommandRuns): void {
  it('manages API keys', async () => {
    const created = await one(
      ...'keys create Shop --plan pro --scope pets:read --scope orders:read'.split(' '),
    );
    assert.match(String(created.key), /^psk_/);
    const { key: _, ...shown } = created;
    const id = `${created.id}`;
    assert.deepEqual(await json('keys', 'get', id), [shown]);
    // The administrator's key is as old, and in use.
    await shop.app.db.run('UPDATE api_keys SET created_at = ?', [Date.now() - 90 * DAY]);
    const listed = await json('keys', 'list', '--revoked', 'false');
    assert.deepEqual(valuesOf(listed, 'unused'), [false, true]);
    assert.equal((await one('keys', 'update', id, '--plan', 'business')).plan, 'business');
    for (const [network, allowedNetworks] of [
      ['203.0.113.0/24', ['203.0.113.0/24']],
      ['', null],
    ] as const)
      assert.deepEqual(
        (await one('keys', 'update', id, '--network', network)).allowedNetworks,
        allowedNetworks,
      );
    const rotated = await one('keys', 'rotate', id, '--grace', '0');
    for (const [{ key }, status] of [
      [created, 401],
      [rotated, 200],
    ] as const)
      assert.equal((await shop.api.as(String(key)).get('/pets')).status, status);
    assert.equal((await one('keys', 'usage', id)).keyId, created.id);
    await shop.app.keyLimits.flush();
    const [busiest] = await json('keys', 'usage');
    assert.deepEqual([busiest!.keyId, busiest!.name, busiest!.refused], [1, 'Administrator', 0]);
    assert.ok(Number(busiest!.admitted) >= 5);
    for (const [name, outcome] of Object.entries({ reset: 'reset', unban: 'unbanned', delete: 'revoked' }))
      assert.deepEqual(await json('keys', name, id), [{ id: created.id, outcome }]);
    const file = join(directory, 'leaks.json');
    const words = 'keys create Leaked --plan free --scope pets:read --kind test';
    const leaked = await one(...words.split(' '));
    // The file is read in parts of 64 KiB. The end of the first one is a longer word than a secret, and one secret is in two parts.
    const longer = `xpsk_${'A'.repeat(38)}`;
    const first = `"${created.key}" and ${created.key}.\n`.padEnd(65_536 - 51) + longer;
    // One report has at most 1,000 secrets.
    const others = Array.from({ length: 1_000 }, (_, i) => `psk_${`${i}`.padStart(38, 'A')}\n`).join('');
    writeFileSync(file, `${first.padEnd(2 * 65_536 - 20 - others.length)}${others}"${leaked.key}"`);
    const reported = await one('keys', 'report-leak', file, '--source', 'A log');
    assert.deepEqual(reported, { file, found: 1_002, wellFormed: 2 });
    assert.equal((await shop.api.as(String(leaked.key)).get('/pets')).status, 401);
    const piped = await one(...words.split(' '));
    const withoutKey = { PETSTORE_API_KEY: '' };
    const report = petstore.start(['keys', 'report-leak', '-'], withoutKey, `key=${piped.key}`);
    assert.equal((await report.ended).code, 0);
    assert.equal((await shop.api.as(String(piped.key)).get('/pets')).status, 401);
    const quotas = { perMinute: 9000, perDay: 90_000 };
    const large = await one(
      ...'keys create Large --plan enterprise --scope admin --network 203.0.113.0/24'.split(' '),
      ...'--expires 2099-01-31T12:00:00.000Z --per-minute 9000 --per-day 90000'.split(' '),
    );
    assert.deepEqual([large.quotas, large.allowedNetworks], [quotas, ['203.0.113.0/24']]);
    const larger = await one('keys', 'update', `${large.id}`, '--name', 'Larger');
    assert.deepEqual([larger.name, larger.expiresAt], ['Larger', '2099-01-31T12:00:00.000Z']);
    assert.equal((await one('keys', 'update', `${large.id}`, '--expires', '')).expiresAt, null);
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
    const approved = await one('keys', 'approve', `${second.id}`, '--message', 'Welcome');
    assert.deepEqual([approved.status, approved.message], ['approved', 'Welcome']);
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
