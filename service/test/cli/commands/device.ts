import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { CommandRuns } from './runs.ts';

/** The commands for the key that is used, the service, and what the device keeps. */
export function deviceCommands({ json, one, shop, petstore, directory }: CommandRuns): void {
  it('shows the account and the state of the service', async () => {
    assert.equal((await one('account')).plan, 'enterprise');
    assert.deepEqual(await one('status'), { status: 'ok' });
    assert.equal((await petstore.run(['status'], { PETSTORE_API_KEY: '' })).code, 0);
  });

  it('manages profiles', async () => {
    const file = join(directory, 'key');
    writeFileSync(file, `${shop.adminKey}\n`);
    const login = await one('login', '--api-key-file', file);
    assert.deepEqual(login, {
      profile: 'default',
      url: shop.origin,
      keyId: 1,
      name: 'Administrator',
      plan: 'enterprise',
      scopes: ['admin'],
    });
    const profile = { name: 'default', url: shop.origin, current: true };
    assert.deepEqual(await json('profiles', 'list'), [profile]);
    assert.deepEqual(await one('profiles', 'use', 'default'), profile);
    assert.deepEqual(await one('logout'), { ...profile, current: false });
  });

  it('prints a completion script', async () => {
    assert.equal((await one('completion', 'bash')).shell, 'bash');
  });
}
