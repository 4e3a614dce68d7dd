import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { dataDirectory } from '../support/service-process.ts';

const script = join(import.meta.dirname, '../../../scripts/test.ts');

const passing = `import { it } from 'node:test'; it('passes here', () => {}); it('passes there', () => {});`;
const failing = `import { it } from 'node:test'; it('fails', () => { throw new Error('planted'); });`;
const onPostgres = `import { it } from 'node:test'; it('runs on PostgreSQL', () => {
  const { TEST_STORE, TEST_DATABASE_URL, TEST_REDIS_URL } = process.env;
  if (TEST_STORE !== 'postgres' || !TEST_DATABASE_URL || !TEST_REDIS_URL) throw new Error('on another store');
});`;

/** Runs the command with arguments in a directory that has these files. */
function run(t: TestContext, files: Record<string, string>, ...args: string[]) {
  const directory = dataDirectory(t);
  mkdirSync(join(directory, 'more'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  // With this variable the command would report to the test runner that runs this test.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return spawnSync(process.execPath, [script, ...args], { cwd: directory, encoding: 'utf8', env });
}

describe('the command that runs tests', () => {
  const files = { 'a.test.ts': passing, 'more/b.test.ts': passing, 'more/c.test.ts': failing, 'd.ts': '' };

  it('runs the given files, and no others', t => {
    const { status, stdout } = run(t, files, 'fast', 'a.test.ts', 'more/b*');
    assert.match(stdout, /^. tests 4$/m);
    assert.equal(status, 0);
  });

  it('runs the tests in a directory, and fails when one of them does', t => {
    const { status, stdout } = run(t, files, 'fast', 'more');
    assert.match(stdout, /^. tests 3$/m);
    assert.equal(status, 1);
  });

  it('forwards options', t => {
    const { status, stdout } = run(t, files, 'fast', 'a.test.ts', 'more', '--test-name-pattern=passes here');
    assert.match(stdout, /^. tests 2$/m);
    assert.equal(status, 0);
  });

  it('runs a file on PostgreSQL and Redis', t => {
    const { status, stdout } = run(t, { 'a.test.ts': onPostgres }, 'postgres', 'a.test.ts');
    assert.match(stdout, /^. tests 1$/m);
    assert.equal(status, 0, stdout);
  });

  for (const [args, message] of [
    [['fast', 'e.test.ts'], /^No test is named e\.test\.ts\. Write the value of an option after "="/],
    [['fast', 'd.ts'], /^d\.ts is not a file of tests/],
    [['all'], /^Name the suite to run: fast, service, postgres$/m],
  ] as const) {
    it(`rejects ${args.join(' ')}`, t => {
      const { status, stderr, stdout } = run(t, files, ...args);
      assert.match(stderr, message);
      assert.deepEqual([status, stdout], [2, '']);
    });
  }
});
