import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { dataDirectory } from '../support/service-process.ts';

const script = join(import.meta.dirname, '../../../scripts/test.ts');
const leftBehind = 'leaves no sockets, timers or environment variables behind';

const testNamed = (name: string, body = '') =>
  `import { it } from 'node:test';\nit(${JSON.stringify(name)}, () => {${body}});`;

/** Runs the command with arguments in a directory that has these files. */
function run(t: TestContext, files: Record<string, string>, ...args: string[]) {
  const directory = dataDirectory(t);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  // With this variable the command would report to the test runner that runs this test.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const options = { cwd: directory, encoding: 'utf8', env, timeout: 180_000 } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], options);
  const named = (pattern: RegExp) => Array.from(stdout.matchAll(pattern), ([, name]) => name!).toSorted();
  return {
    status,
    stdout,
    stderr,
    passed: named(/^ *ok \d+ - (.*)$/gm),
    failed: named(/^ *not ok \d+ - (.*)$/gm),
  };
}

describe('the command that runs tests', () => {
  const files = {
    'a.test.ts': testNamed('in a'),
    'more/b.test.ts': testNamed('in b') + testNamed('again in b').split('\n')[1],
    'more/c.test.ts': testNamed('in c', `throw new Error('planted');`),
    'd.ts': '',
  };

  it('runs the given files and directories with the given options, and fails when a test does', t => {
    const tap = '--test-reporter=tap';
    const { status, passed } = run(t, files, 'fast', tap, 'a.test.ts', 'more/b*');
    assert.deepEqual([status, passed], [0, ['again in b', 'in a', 'in b']]);
    const { status: code, failed } = run(t, files, 'fast', tap, 'more', '--test-name-pattern=in c');
    assert.deepEqual([code, failed], [1, ['in c']]);
  });

  it('runs each file of several suites once with the same servers, and names those that leave something behind, throw, or cannot be loaded', t => {
    const throws = `setTimeout(() => { throw new Error('planted'); }); return new Promise(() => {});`;
    const shop = `import '../support/shop.ts';\n`;
    const server = `process.getBuiltinModule('node:net').createServer().listen(0)`;
    const closes = `import { after, before } from 'node:test';\nlet server;
      before(() => { server = ${server}; });\nafter(() => new Promise(resolve => server.close(resolve)));\n`;
    const { status, stdout, passed, failed } = run(
      t,
      {
        'service/test/support/test-store.ts': `console.log('store: ' + process.env.TEST_STORE + ' ' + Boolean(process.env.TEST_REDIS_URL));`,
        'service/test/support/shop.ts': `import './test-store.ts';`,
        'service/src/kit/unit.test.ts': testNamed('Test unit.'),
        'service/test/layering.test.ts': testNamed('Test layers.'),
        'service/test/crash/a.test.ts': testNamed('Test crash.'),
        'service/test/journeys/b.test.ts': shop + closes + testNamed('Test shop.'),
        'service/test/journeys/c.test.ts': closes + testNamed('Test rules.'),
        // The process ends although the interval would keep it open.
        'service/test/process/d.test.ts': testNamed('Test timer.', 'setInterval(() => {}, 1_000);'),
        'service/test/process/f.test.ts': testNamed('Test variable.', `process.env.LEFT = 'behind';`),
        'service/test/process/g.test.ts': testNamed('Test waits.', throws),
        'service/test/process/h.test.ts': `import './missing.ts';`,
        'service/test/process/i.test.ts': testNamed('Test other.'),
      },
      // One process after the other: the first one of a suite runs all of its files.
      ...['check', 'fast', 'service', 'postgres', '--test-reporter=tap', '--test-concurrency=1'],
    );
    const tests = ['crash', 'layers', 'other', 'rules', 'shop', 'shop', 'timer', 'unit', 'variable'];
    assert.deepEqual(
      passed.filter(name => name.startsWith('Test ')),
      tests.map(name => `Test ${name}.`),
      stdout,
    );
    const stores = Array.from(stdout.matchAll(/^# store: (.+)$/gm), ([, store]) => store);
    assert.deepEqual(stores.toSorted(), ['postgres true', 'undefined true']);
    assert.match(stdout, /^ +error: 'planted'$/m);
    const inFile = (name: string) => `service/test/process/${name}.test.ts`;
    const [leaving, failing] = [
      ['d', 'f'].map(name => `${inFile(name)} ${leftBehind}`),
      ['g', 'h'].map(inFile),
    ];
    const found = failed.filter(name => !name.startsWith('/'));
    assert.deepEqual([status, found], [1, ['Test waits.', ...leaving, ...failing].toSorted()]);
  });

  it('runs each file of a suite once in one of several processes, of which a long file occupies one, and ends with those that took the most processor time', t => {
    const fs = `process.getBuiltinModule('node:fs')`;
    const wait = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)';
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const bodies: Record<string, string> = {
      a: `while (!${fs}.existsSync('last')) ${wait};`,
      b: `const time = () => Object.values(process.cpuUsage()).reduce((a, b) => a + b);
        const end = time() + 500_000; while (time() < end);`,
      h: `${fs}.writeFileSync('last', '');`,
    };
    const { status, stdout } = run(
      t,
      Object.fromEntries(
        names.map(name => [`service/test/process/${name}.test.ts`, testNamed(`Test ${name}.`, bodies[name])]),
      ),
      'service',
    );
    assert.equal(status, 0, stdout);
    assert.deepEqual(Array.from(stdout.matchAll(/✔ Test (.)\./g), ([, name]) => name).toSorted(), names);
    const files = stdout
      .split(/: +\d+\.\d s\. Most of it:\n/)[1]!
      .trimEnd()
      .split('\n');
    const listed = files.map(
      line => /^ +\d+\.\d s {2}service\/test\/process\/(.)\.test\.ts$/.exec(line)?.[1],
    );
    assert.equal(listed[0], 'b');
    assert.deepEqual(listed.toSorted(), names);
  });

  for (const [args, message] of [
    [['fast', 'e.test.ts'], /^No test is named e\.test\.ts\. Write the value of an option after "="/],
    [['fast', 'd.ts'], /^d\.ts is not a file of tests/],
    [['all'], /^Name the suite to run: check, fast, service, postgres$/m],
  ] as const) {
    it(`rejects ${args.join(' ')}`, t => {
      const { status, stderr, stdout } = run(t, files, ...args);
      assert.match(stderr, message);
      assert.deepEqual([status, stdout], [2, '']);
    });
  }
});

it('the command that runs the checks without tests runs all of them and another program, also after one has failed, and names those that failed', t => {
  const directory = dataDirectory(t);
  const programs = join(directory, 'node_modules/.bin');
  mkdirSync(programs, { recursive: true });
  for (const name of ['tsc', 'biome', 'node']) {
    const text = `#!/bin/sh\necho "ran ${name} $*"\n[ "$*" != "$FAILS" ]\n`;
    writeFileSync(join(programs, name), text, { mode: 0o755 });
  }
  const lint = join(import.meta.dirname, '../../../scripts/lint.ts');
  const checksOf = (fails: string, status: number, errors: string) => {
    const env = { ...process.env, FAILS: fails };
    const ended = spawnSync(process.execPath, [lint, 'set-up.ts'], { cwd: directory, encoding: 'utf8', env });
    assert.deepEqual([ended.status, ended.stderr], [status, errors]);
    return ended.stdout.match(/^ran (tsc|biome|node) .*$/gm)!.toSorted();
  };
  const all = checksOf('nothing', 0, '');
  assert.ok(all.includes('ran biome check') && all.length > 10, `${all}`);
  assert.equal(new Set(all).size, all.length);
  assert.ok(all.includes('ran node set-up.ts'));
  assert.deepEqual(checksOf('check', 1, 'Failed: biome check\n'), all);
  assert.deepEqual(checksOf('set-up.ts', 1, 'Failed: node set-up.ts\n'), all);
});
