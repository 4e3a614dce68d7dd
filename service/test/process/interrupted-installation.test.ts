import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { freshCloneWithRuntime } from '../support/fresh-clone.ts';
import { until } from '../support/until.ts';

/** An `npm` that continues after signals, as npm itself does for many seconds while it installs. */
const longNpm = `
const { writeFileSync, renameSync } = require('node:fs');
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
setInterval(() => {}, 1_000);
writeFileSync('pid', String(process.pid));
renameSync('pid', 'npm-pid');`;

/** Whether a process exists. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH');
    return false;
  }
}

describe('an installation', () => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    it(`ends together with npm on ${signal}`, async t => {
      const { directory } = freshCloneWithRuntime(t, longNpm);
      // The terminal sends Ctrl-C to the whole group.
      const setUp = spawn(process.execPath, [join(directory, 'scripts/setup.mjs')], {
        cwd: directory,
        detached: true,
        env: { PATH: join(directory, 'bin') },
      });
      let stderr = '';
      setUp.stderr.on('data', data => {
        stderr += data;
      });
      const pidFile = join(directory, 'npm-pid');
      await until('npm runs', () => existsSync(pidFile), 60);
      const npm = Number(readFileSync(pidFile, 'utf8'));
      t.after(() => exists(npm) && process.kill(npm, 'SIGKILL'));
      process.kill(-setUp.pid!, signal);
      const [status] = await once(setUp, 'close');
      assert.ok(!exists(npm), 'npm is still running');
      assert.equal(status, 1);
      assert.match(stderr, /npm ci was interrupted: start again\n$/);
    });
  }
});
