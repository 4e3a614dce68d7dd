import assert from 'node:assert/strict';
import fs, { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { PackedCommand } from '../support/packed-command.ts';
import { replaceFs } from '../support/replace-fs.ts';
import { dataDirectory } from '../support/service-process.ts';

const petstore = new PackedCommand({ HOME: '/nonexistent' });
const { lock } = await petstore.load<typeof import('../../../cli/src/import/lock.ts')>('import/lock.js');

/** A file that other processes import. `stateOf` returns the error code of a signal to a process; `undefined` if it runs. */
function lockedFile(t: TestContext, stateOf: (pid: number) => string | undefined) {
  const directory = dataDirectory(t);
  t.mock.method(process, 'kill', (pid: number) => {
    const code = stateOf(pid);
    if (code !== undefined) throw Object.assign(new Error(code), { code });
    return true;
  });
  const file = join(directory, 'pets.csv');
  const path = `${file}.journal.lock`;
  return {
    file,
    write: (owner: number | string) => writeFileSync(path, String(owner)),
    read: () => Number(readFileSync(path, 'utf8')),
    remove: () => rmSync(path),
    files: () => readdirSync(directory),
  };
}

describe('the lock of an imported file', () => {
  it('is taken from a process that has ended, also one with the same number, and removed at the end', t => {
    const { file, write, read, files } = lockedFile(t, pid => (pid === process.pid ? undefined : 'ESRCH'));
    for (const pid of [12_345, process.pid]) {
      write(pid);
      const unlock = lock(file);
      assert.deepEqual([read(), files()], [process.pid, ['pets.csv.journal.lock']]);
      unlock();
      assert.deepEqual(files(), []);
    }
  });

  it('is taken when a power failure has left it without a number', t => {
    const { file, write, read } = lockedFile(t, pid => (pid === 0 ? undefined : 'ESRCH'));
    for (const owner of ['', '\0\0\0']) {
      write(owner);
      const unlock = lock(file);
      assert.equal(read(), process.pid);
      unlock();
    }
  });

  for (const [whose, code] of [
    ['of this user', undefined],
    ['of another user, to which it cannot send signals', 'EPERM'],
  ] as const) {
    it(`is not taken from a running process ${whose}`, t => {
      const { file, write, read, files } = lockedFile(t, () => code);
      write(12_345);
      assert.throws(() => lock(file), /^Error: Process 12345 is importing this file: wait until it ends/);
      assert.deepEqual([read(), files()], [12_345, ['pets.csv.journal.lock']]);
    });
  }

  it('is not taken from a process that has taken it from one that has ended in the meantime', t => {
    const { file, write, read, files } = lockedFile(t, pid => {
      if (pid === 777) return undefined;
      write(777);
      return 'ESRCH';
    });
    write(12_345);
    assert.throws(() => lock(file), /Process 777 is importing this file/);
    assert.deepEqual([read(), files()], [777, ['pets.csv.journal.lock']]);
  });

  it('is taken after a process that has taken it from one that has ended, and has also ended', t => {
    const { file, write, read, remove } = lockedFile(t, () => {
      remove();
      return 'ESRCH';
    });
    write(12_345);
    const unlock = lock(file);
    assert.equal(read(), process.pid);
    unlock();
  });

  it('is taken when another process ends between two looks at it', t => {
    const { file, write, remove } = lockedFile(t, () => undefined);
    write(12_345);
    const { linkSync } = fs;
    const mock = replaceFs(t, 'linkSync', (from: string, to: string) => {
      try {
        linkSync(from, to);
      } catch (error) {
        remove();
        throw error;
      }
    });
    lock(file)();
    assert.equal(mock.callCount(), 2);
  });

  it('needs hard links, and states what to do without them', t => {
    const { file, files } = lockedFile(t, () => undefined);
    replaceFs(t, 'linkSync', () => {
      throw Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' });
    });
    const message = /EPERM.* needs a directory whose file system has hard links.* copy the file to another/;
    assert.throws(() => lock(file), message);
    assert.deepEqual(files(), []);
  });
});
