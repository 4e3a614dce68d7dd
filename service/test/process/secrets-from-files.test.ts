import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ConfigError, readConfig } from '../../src/config.ts';
import { dataDirectory, run, serve } from '../support/service-process.ts';
import { emptyRedis } from '../support/test-redis.ts';
import { emptyDatabase } from '../support/test-store.ts';
import { until } from '../support/until.ts';

const messageOf = (environment: Record<string, string>): string => {
  try {
    readConfig(environment);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.message;
  }
  return assert.fail('the settings were accepted');
};

describe('DATABASE_URL_FILE and REDIS_URL_FILE', () => {
  it('give the service and its commands access to the servers', async t => {
    const directory = dataDirectory(t);
    const { url, drop } = await emptyDatabase();
    t.after(drop);
    const settings = {
      DATABASE_URL_FILE: join(directory, 'database'),
      REDIS_URL_FILE: join(directory, 'redis'),
      PETSTORE_DATA: directory,
    };
    writeFileSync(settings.DATABASE_URL_FILE, `${url}\n`, { mode: 0o600 });
    writeFileSync(settings.REDIS_URL_FILE, `${await emptyRedis()}\r\n`, { mode: 0o600 });

    assert.equal((await run(t, ['migrate'], settings)).code, 0);
    const service = await serve(t, directory, settings);
    // When Redis does not respond in time at the start, the service connects again soon.
    const isOk = async () => (await service.api.get('/readyz')).body.status === 'ok';
    await until('the service is ok', isOk);
    const keys = await run(t, ['keys', 'list'], settings);
    assert.match(keys.stdout, /Administrator/);
    await service.end('SIGTERM');
  });

  for (const name of ['DATABASE_URL', 'REDIS_URL']) {
    it(`${name}_FILE: the error describes the file and shows nothing of its content`, t => {
      const directory = dataDirectory(t);
      const file = join(directory, 'secret');
      const messageFor = (content: string) => {
        writeFileSync(file, content);
        const message = messageOf({ [`${name}_FILE`]: file });
        assert.doesNotMatch(message, /hunter2/);
        return message;
      };
      const remedy = `It must be a file that this user can read, with the value of ${name} in it`;
      const unusable = (path: string) => `${name}_FILE names ${path}, which cannot be used: `;
      assert.equal(messageFor(''), `${unusable(file)}the file is empty. ${remedy}`);
      assert.equal(messageFor(' \n'), `${unusable(file)}the file is empty. ${remedy}`);
      assert.equal(
        messageFor('hunter2\nhunter2\n'),
        `${unusable(file)}the file has more than one line. ${remedy}`,
      );
      assert.match(messageFor('http://user:hunter2@host/shop'), new RegExp(`^${name} in ${file} must be `));

      const absent = join(directory, 'absent');
      const absence = messageOf({ [`${name}_FILE`]: absent });
      assert.ok(absence.startsWith(`${unusable(absent)}ENOENT`) && absence.endsWith(remedy), absence);
      assert.match(messageOf({ [`${name}_FILE`]: directory }), /EISDIR/);
      // An empty variable is the same as none.
      assert.equal(messageOf({ [name]: '', [`${name}_FILE`]: absent }), absence);
    });

    it(`${name}_FILE: is rejected together with ${name}`, () => {
      assert.equal(
        messageOf({ [name]: 'hunter2', [`${name}_FILE`]: '/run/secrets/url' }),
        `${name} and ${name}_FILE are both set: unset one of them`,
      );
    });

    it(`${name}_FILE: is rejected when it is empty, so that no other store is opened by mistake`, () => {
      assert.throws(() => readConfig({ [`${name}_FILE`]: '' }), {
        name: 'Error',
        message: `${name}_FILE is empty: set it to the name of a file, or unset it`,
      });
    });
  }
});
