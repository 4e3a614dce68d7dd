import assert from 'node:assert/strict';
import { existsSync, globSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { readProjectFile, root } from '../support/deploy-files.ts';
import { listenLocally } from '../support/local-server.ts';
import { assertExplained, dataDirectory, lookingUp, run, start } from '../support/service-process.ts';
import { assertNone } from '../support/values.ts';

async function aTakenPort(t: TestContext): Promise<string> {
  return new URL(await listenLocally(t, createServer())).port;
}

describe('serve', () => {
  for (const setting of ['PORT', 'OPS_PORT']) {
    it(`reports that ${setting} is in use, and exits 1, so that a supervisor restarts it`, async t => {
      const port = await aTakenPort(t);
      const ended = await run(t, ['serve'], {
        PORT: '0',
        [setting]: port,
        PETSTORE_DATA: dataDirectory(t),
        LOG_LEVEL: 'warn',
      });
      assertExplained(ended, new RegExp(`^Port ${port} of 127.0.0.1 is in use: .* set ${setting}\n$`), 1);
    });
  }

  for (const [setting, choices] of [
    ['HOST', 'or to 0\\.0\\.0\\.0 for all of them'],
    ['OPS_HOST', 'such as 127\\.0\\.0\\.1'],
  ] as const) {
    it(`reports that ${setting} is not an address of the machine, creates nothing, and exits 1`, async t => {
      const ports = { PORT: '0', OPS_PORT: '0' };
      const directory = join(dataDirectory(t), 'data');
      const ended = await run(t, ['serve'], {
        ...ports,
        [setting]: '192.0.2.1',
        LOG_LEVEL: 'warn',
        PETSTORE_DATA: directory,
      });
      assertExplained(
        ended,
        new RegExp(
          `^${setting} 192\\.0\\.2\\.1 is not an address of this machine: set ${setting} to one of its addresses, ${choices}\n$`,
        ),
        1,
      );
      assert.ok(!existsSync(directory));
    });
  }

  const lookUps = [
    ['ENOTFOUND', 'is not an address of this machine: set HOST to .*', 2],
    [
      'EAI_AGAIN',
      'cannot be resolved, because DNS is unavailable: start again later, or set HOST to an IP address',
      1,
    ],
  ] as const;
  for (const [error, reason, code] of lookUps) {
    it(`reports why a name in HOST has no address: ${error}`, async t => {
      const ended = await run(t, ['serve'], {
        PORT: '0',
        HOST: 'pets.invalid',
        LOG_LEVEL: 'warn',
        PETSTORE_DATA: dataDirectory(t),
        NODE_OPTIONS: lookingUp(`Promise.reject(Object.assign(new Error(), { code: '${error}' }))`),
      });
      assertExplained(ended, new RegExp(`^HOST pets\\.invalid ${reason}\n$`), code);
    });
  }

  it('names a wrong setting, and creates nothing', async t => {
    const directory = join(dataDirectory(t), 'data');
    const ended = await run(t, ['serve'], { PORT: 'http', PETSTORE_DATA: directory });
    assertExplained(ended, /^PORT must be a whole number from 0 to 65535, but is "http"\n$/);
    assert.ok(!existsSync(directory));
  });

  it('names the setting when the path of the store is not a directory', async t => {
    const file = join(dataDirectory(t), 'file');
    writeFileSync(file, '');
    const ended = await run(t, ['serve'], { PORT: '0', PETSTORE_DATA: file });
    assertExplained(
      ended,
      /^The store in \S+file cannot be opened: .*\nSet PETSTORE_DATA to the directory of the store, .*\n$/,
    );
  });

  it('names the setting when the store is not a database', async t => {
    const directory = dataDirectory(t);
    writeFileSync(join(directory, 'petstore.db'), 'not a database '.repeat(100));
    const ended = await run(t, ['serve'], { PORT: '0', PETSTORE_DATA: directory });
    assertExplained(
      ended,
      /^The store in \S+ cannot be opened: file is not a database\nSet PETSTORE_DATA to the directory of the store, .*\n$/,
    );
  });

  it('exits 1 when a database is unavailable, so that a supervisor restarts it', async t => {
    const settings = {
      PORT: '0',
      PETSTORE_DATA: dataDirectory(t),
      DATABASE_URL: 'postgres://shop@127.0.0.1:1/shop',
    };
    const ended = await run(t, ['serve'], settings);
    assertExplained(
      ended,
      /^The database \S+ cannot be used \(.*ECONNREFUSED.*\): check that the server runs .*\n$/,
      1,
    );
  });

  it('does not create a shop in the database of another program', async t => {
    const directory = dataDirectory(t);
    const db = new BetterSqlite3(join(directory, 'petstore.db'));
    db.exec('CREATE TABLE notes (text TEXT)');
    db.close();
    const ended = await run(t, ['serve'], { PORT: '0', PETSTORE_DATA: directory });
    assertExplained(ended, /^\S+petstore\.db is a database of another program: set PETSTORE_DATA .*\n$/);
  });

  it('names an unknown option', async t => {
    const ended = await run(t, ['serve', '--dmeo'], { PETSTORE_DATA: dataDirectory(t) });
    assertExplained(ended, /--dmeo/);
  });
});

describe('the command line', () => {
  it('is no failure when its reader stops early', async t => {
    const { child, ended } = start(t, ['--help'], {});
    child.stdout!.destroy();
    const { code, stderr } = await ended;
    assert.deepEqual([code, stderr], [0, '']);
  });

  it('lists every option of its commands in its help', async t => {
    const files = globSync('service/src/commands/!(*.test).ts', { cwd: root });
    const options = files.flatMap(file =>
      [...readProjectFile(file).matchAll(/([\w-]+)'?: \{ type: '(string|boolean)'/g)].map(([, name]) => name),
    );
    assert.ok(options.includes('demo') && options.includes('per-day'));
    const { stdout } = await run(t, ['--help'], {});
    assertNone(options, name => !new RegExp(`--${name}\\b`).test(stdout));
  });

  const usage = 'Usage: node_modules/.bin/node service/src/main.ts <command>\n';
  for (const [args, message] of [
    // The second is a property of every object.
    [['sevre'], `There is no command "sevre"\n\n${usage}`],
    [['toString'], `There is no command "toString"\n\n${usage}`],
    [[], usage],
  ] as const) {
    it(`shows its usage for "${args}"`, async t => {
      assertExplained(await run(t, [...args], {}), new RegExp(`^${RegExp.escape(message)}`));
    });
  }
});
