import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { dataDirectory, type Ended, run, serve } from '../support/service-process.ts';
import { emptyRedis } from '../support/test-redis.ts';
import { emptyDatabase } from '../support/test-store.ts';

const PASSWORD = 'hunter2 /@%é';
const ENCODED = encodeURIComponent(PASSWORD);
const FORMS = [PASSWORD, ENCODED, ENCODED.toLowerCase(), Buffer.from(PASSWORD).toString('base64'), 'hunter2'];

/** The URL of a database with the password in both places where it can be. */
function urlOf(text: string): string {
  const url = new URL(text);
  url.username ||= 'shop';
  url.password = ENCODED;
  url.search += `${url.search && '&'}application_name=shop&password=${ENCODED}`;
  return url.href;
}

function assertHidden({ stdout, stderr }: Omit<Ended, 'code'>): void {
  for (const form of FORMS)
    assert.ok(!`${stdout}${stderr}`.includes(form), `${form} is in: ${stdout}${stderr}`);
}

async function aDatabase(t: TestContext): Promise<string> {
  const { url, drop } = await emptyDatabase();
  t.after(drop);
  return url;
}

describe('the password of a database', () => {
  it('is in no log line, and not in the output of the service and the commands', async t => {
    const directory = dataDirectory(t);
    const settings = { PETSTORE_DATA: directory, DATABASE_URL: urlOf(await aDatabase(t)) };
    const migrated = await run(t, ['migrate'], settings);
    assert.equal(migrated.code, 0, migrated.stderr);
    assertHidden(migrated);
    const service = await serve(t, directory, { ...settings, LOG_LEVEL: 'trace' });
    const listed = await run(t, ['keys', 'list'], settings);
    assert.match(listed.stdout, /Administrator/);
    assertHidden(listed);
    const ended = await service.end('SIGTERM');
    assert.equal(ended.code, 0);
    assert.match(ended.stdout, /"store":"postgres:\/\/[^"]+\/test_/);
    assert.match(ended.stderr, /Data {7}postgres:\/\/.+\/test_/);
    assertHidden(ended);
  });

  it('is not in the errors of a database that cannot be used', async t => {
    const absent = new URL(await aDatabase(t));
    absent.pathname = '/nowhere';
    for (const [command, url, code] of [
      [['serve'], absent.href, 2],
      [['keys', 'list'], 'postgres://127.0.0.1:1/shop', 1],
      [['keys', 'list'], 'postgres://127.0.0.1:1/shop?target_session_attrs=read-write', 1],
    ] as const) {
      const settings = { PORT: '0', PETSTORE_DATA: dataDirectory(t), DATABASE_URL: urlOf(url) };
      const ended = await run(t, [...command], settings);
      assert.equal(ended.code, code, ended.stderr);
      assert.match(ended.stderr, /The database postgres:\/\/\S+ cannot be used \(/);
      assertHidden(ended);
    }
  });

  it('is not shown by the commands for the embedded store', async t => {
    const directory = dataDirectory(t);
    assert.equal((await run(t, ['migrate'], { PETSTORE_DATA: directory })).code, 0);
    const settings = { PETSTORE_DATA: directory, DATABASE_URL: urlOf('postgres://127.0.0.1:1/shop') };
    for (const command of [
      ['backup', `${directory}/backup.db`],
      ['restore', `${directory}/backup.db`],
      ['check'],
      ['new-store'],
      ['migrate-store'],
    ]) {
      const ended = await run(t, command, settings);
      assert.notEqual(ended.code, 0, command[0]);
      assert.notEqual(ended.stderr, '');
      assertHidden(ended);
    }
    const copied = await run(t, ['migrate-store'], { ...settings, DATABASE_URL: urlOf(await aDatabase(t)) });
    assert.equal(copied.code, 0, copied.stderr);
    assert.match(copied.stderr, /to postgres:\/\//);
    assertHidden(copied);
  });
});

it('the password of Redis is in no log line, and not in the output of the service and the commands', async t => {
  const url = await emptyRedis();
  for (const target of [new URL(url), new URL('redis://127.0.0.1:1')]) {
    target.username = 'shop';
    target.password = ENCODED;
    const directory = dataDirectory(t);
    const settings = { PETSTORE_DATA: directory, REDIS_URL: target.href };
    const service = await serve(t, directory, { ...settings, LOG_LEVEL: 'trace' });
    assert.equal((await service.api.get('/pets')).status, 200);
    assertHidden(await run(t, ['keys', 'usage', '1'], settings));
    const ended = await service.end('SIGTERM');
    // Redis may not respond to the first connection in time. The log then has no reason for a later one.
    assert.match(ended.stdout, /"reason":"[^"]*(WRONGPASS|ECONNREFUSED|did not respond)/);
    assertHidden(ended);
  }
});
