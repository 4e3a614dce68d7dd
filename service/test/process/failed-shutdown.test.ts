import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { dataDirectory, type ServiceProcess, serve } from '../support/service-process.ts';
import { until } from '../support/until.ts';

/** A service that has counts to store, and a store that another program has locked. */
async function lockedService(t: TestContext, environment: Record<string, string>): Promise<ServiceProcess> {
  const directory = dataDirectory(t);
  const service = await serve(t, directory, environment);
  const other = new BetterSqlite3(join(directory, 'petstore.db'));
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  // This request is counted after the lock, and its connection stays open, idle.
  assert.equal((await service.api.get('/pets')).status, 200);
  return service;
}

// The timeout is for a process that does not end.
describe('a failed shutdown', { timeout: 60_000 }, () => {
  it('logs the reason and exits 1, without waiting for PETSTORE_SHUTDOWN_SECONDS', async t => {
    const service = await lockedService(t, { PETSTORE_SHUTDOWN_SECONDS: '600' });
    const { code, stdout } = await service.end('SIGTERM');
    assert.equal(code, 1, stdout);
    const lines = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    const failure = lines.find(({ msg }) => msg === 'Shutdown failed');
    assert.equal(failure?.level, 60, stdout);
    assert.match(JSON.stringify(failure.err), /The last counts could not be stored/);
    assert.doesNotMatch(stdout, /cut off/);
  });

  it('exits 1 even when a second signal ends the drain', async t => {
    const service = await lockedService(t, {
      PETSTORE_DRAIN_SECONDS: '600',
      PETSTORE_SHUTDOWN_SECONDS: '600',
    });
    service.child.kill('SIGTERM');
    await until('/readyz is 503', async () => (await service.api.get('/readyz')).status === 503);
    const { code, stdout } = await service.end('SIGINT');
    assert.equal(code, 1, stdout);
    assert.match(stdout, /"msg":"Shutdown failed"/);
  });
});
