import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { dataDirectory } from '../support/service-process.ts';

const root = join(import.meta.dirname, '../../..');

const testNamed = (name: string, body = '') =>
  `import { it } from 'node:test';\nit(${JSON.stringify(name)}, () => {${body}});`;

const leftBehind = 'leaves no sockets, timers or environment variables behind';

/** Runs a command of Node.js in a directory that has these files. */
function run(t: TestContext, files: Record<string, string>, ...args: string[]) {
  const directory = dataDirectory(t);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  // With this variable the command would report to the test runner that runs this test.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return spawnSync(process.execPath, args, { cwd: directory, encoding: 'utf8', env, timeout: 60_000 });
}

/** Runs files as one group. Returns the names of the tests that passed and of those that failed. */
function runGroup(t: TestContext, files: Record<string, string>) {
  const module = JSON.stringify(join(root, 'service/test/support/test-group.ts'));
  const list = JSON.stringify(Object.keys(files));
  const group = `import { resolve } from 'node:path';
    const { runTogether } = await import(${module});
    await runTogether(${list}.map(file => resolve(file)));`;
  const args = ['--test', '--test-reporter=tap', 'group.mjs'];
  const { stdout, status } = run(t, { ...files, 'group.mjs': group }, ...args);
  const named = (pattern: RegExp) => Array.from(stdout.matchAll(pattern), ([, name]) => name!);
  return { stdout, status, passed: named(/^ *ok \d+ - (.*)$/gm), failed: named(/^ *not ok \d+ - (.*)$/gm) };
}

describe('test files that share a process', () => {
  it('run one after the other, each with a check of what it leaves behind', t => {
    const { status, passed } = runGroup(t, {
      'a.test.ts': testNamed('one'),
      'b.test.ts': testNamed('other'),
    });
    const names = ['one', 'a.test.ts', `a.test.ts ${leftBehind}`];
    const others = ['other', 'b.test.ts', `b.test.ts ${leftBehind}`];
    assert.deepEqual([status, passed], [0, ['the files of a group load', ...names, ...others]]);
  });

  it('run their hooks before the next file', t => {
    const server = `process.getBuiltinModule('node:net').createServer().listen(0)`;
    const hooks = `import { after, before } from 'node:test';
      let server;
      before(() => { server = ${server}; });
      after(() => server.close());\n`;
    const files = { 'a.test.ts': hooks + testNamed('one'), 'b.test.ts': testNamed('other') };
    const { status, stdout } = runGroup(t, files);
    assert.equal(status, 0, stdout);
  });

  for (const [what, leak, release] of [
    ['a timer', 'globalThis.left = setInterval(() => {}, 1_000);', 'clearInterval(left);'],
    [
      'a server',
      `globalThis.left = process.getBuiltinModule('node:net').createServer().listen(0);`,
      'left.close();',
    ],
    ['an environment variable', `process.env.LEFT = 'behind';`, ''],
  ] as const) {
    it(`are named when they leave ${what} behind`, t => {
      const { status, stdout, failed } = runGroup(t, {
        'a.test.ts': testNamed('one'),
        'b.test.ts': testNamed('leaks', leak),
        'c.test.ts': testNamed('other'),
        // Without the release the process would not end.
        'd.test.ts': testNamed('releases', release),
      });
      assert.deepEqual([status, failed], [1, [`b.test.ts ${leftBehind}`]], stdout);
    });
  }

  it('fail when one of them cannot be loaded', t => {
    const files = { 'a.test.ts': testNamed('one'), 'b.test.ts': `import './missing.ts';` };
    const { status, stdout } = runGroup(t, files);
    assert.equal(status, 1);
    assert.match(stdout, /missing\.ts/);
  });

  it('are all files of a suite, each once', t => {
    const names = ['crash/a', 'journeys/b', 'journeys/c-browser', 'process/d', 'process/e', 'replicas/f'];
    const { status, stdout, ran } = runSuites(
      t,
      ['service'],
      filesOf(names.slice(0, 3)),
      filesOf(names.slice(3)),
    );
    assert.equal(status, 0, stdout);
    assert.deepEqual(ran.toSorted(), filesOf(names));
    assert.match(stdout, new RegExp(`journeys/c-browser.test.ts ${leftBehind}`));
  });

  it('are on PostgreSQL those of its suite that use the store', t => {
    const names = filesOf(Array.from({ length: 8 }, (_, i) => `journeys/${i}`));
    const { status, stdout, ran } = runSuites(t, ['postgres'], names, filesOf(['journeys/rules']));
    assert.equal(status, 0, stdout);
    assert.deepEqual(ran.toSorted(), names);
  });

  it('of two suites run with the same servers, each on the store of its suite', t => {
    const [both, other] = [filesOf(['journeys/a']), filesOf(['process/b'])];
    const { status, stdout, ran } = runSuites(t, ['service', 'postgres'], both, other);
    assert.equal(status, 0, stdout);
    assert.deepEqual(ran.toSorted(), [...both, ...both, ...other].toSorted());
    assert.deepEqual(storesOf(stdout), ['postgres', 'undefined']);
  });
});

const filesOf = (names: readonly string[]) => names.map(name => `service/test/${name}.test.ts`);

/** The values of TEST_STORE that the file of the store was loaded with. */
const storesOf = (stdout: string) =>
  [...new Set(Array.from(stdout.matchAll(/^# store: (\w+)$/gm), ([, store]) => store!))].sort();

/** Runs whole suites of files, of which some use the store. Returns the names of those that ran. */
function runSuites(
  t: TestContext,
  suites: readonly string[],
  ofStore: readonly string[],
  others: readonly string[],
) {
  const test = (name: string) => testNamed(`Test ${name}.`);
  const files = {
    'service/test/support/test-store.ts': `console.log('store: ' + process.env.TEST_STORE);`,
    'service/test/support/shop.ts': `import './test-store.ts';`,
    ...Object.fromEntries(ofStore.map(name => [name, `import '../support/shop.ts';\n${test(name)}`])),
    ...Object.fromEntries(others.map(name => [name, test(name)])),
  };
  const { status, stdout } = run(t, files, join(root, 'scripts/test.ts'), ...suites, '--test-reporter=tap');
  const ran = Array.from(stdout.matchAll(/ok \d+ - Test (.*)\.$/gm), ([, name]) => name);
  return { status, stdout, ran };
}
