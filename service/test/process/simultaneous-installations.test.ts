import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { freshCloneWithRuntime } from '../support/fresh-clone.ts';
import { until } from '../support/until.ts';

const LOCK = '.setup.lock';

/** An `npm` that waits for the file `continue`, and then writes the record of an installation to run. */
const waitingNpm = `
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
writeFileSync('npm-runs', '');
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
for (const path of ['', 'node_modules/database']) delete packages[path];
const waiting = setInterval(() => {
  // The test has failed and removed the clone.
  if (!existsSync('npm-runs')) process.exit(1);
  if (!existsSync('continue')) return;
  writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages }));
  clearInterval(waiting);
}, 5);`;

/** Starts the set-up in a clone. */
function setUpIn(directory: string) {
  const child = spawn(process.execPath, [join(directory, 'scripts/setup.mjs')], {
    cwd: directory,
    env: { PATH: join(directory, 'bin') },
  });
  const output = { stderr: '' };
  child.stderr.setEncoding('utf8').on('data', data => {
    output.stderr += data;
  });
  return { child, output, ended: once(child, 'close').then(([status]) => status as number | null) };
}

const locksIn = (directory: string) => readdirSync(directory).filter(name => name.startsWith(LOCK));

describe('two installations in one clone', () => {
  it('run one after the other, and the second finds the packages of the first', async t => {
    const fresh = freshCloneWithRuntime(t, waitingNpm);
    const { directory } = fresh;
    const first = setUpIn(directory);
    t.after(() => first.child.kill('SIGKILL'));
    await until('npm runs', () => existsSync(join(directory, 'npm-runs')));
    const second = setUpIn(directory);
    t.after(() => second.child.kill('SIGKILL'));
    await until('the second waits', () => second.output.stderr !== '');
    assert.equal(
      second.output.stderr,
      `Process ${first.child.pid} is installing packages here: waiting for it. If it is another program, ` +
        `delete ${join(directory, LOCK)}\n`,
    );
    writeFileSync(join(directory, 'continue'), '');
    assert.deepEqual([await first.ended, await second.ended], [0, 0]);
    assert.equal(fresh.npmCalls().length, 1);
    assert.deepEqual(locksIn(directory), []);
  });

  it('do not wait for one that was killed', t => {
    const fresh = freshCloneWithRuntime(t);
    const { pid } = spawnSync(process.execPath, ['--version']);
    writeFileSync(join(fresh.directory, LOCK), String(pid));
    const { status, stderr } = fresh.setUp();
    assert.deepEqual([status, stderr], [0, 'Installing packages (once; 15 s to a minute) …\n']);
    assert.equal(fresh.npmCalls().length, 1);
    assert.deepEqual(locksIn(fresh.directory), []);
  });
});
