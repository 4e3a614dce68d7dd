import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { assertNothingLeft, openResources } from './resources.ts';

/**
 * Runs several test files in this process, one after the other: starting a process and loading the service for each file
 * takes longer than most of their tests. After each file and its hooks, a test checks that it leaves nothing to the next one, and
 * reports the processor time of the file to `scripts/test-reporter.ts`.
 */
export async function runTogether(files: readonly string[]): Promise<void> {
  const loaded = Promise.withResolvers<void>();
  let resources: readonly string[] = [];
  let environment: NodeJS.ProcessEnv = {};
  let time = 0;
  const remember = () => {
    resources = openResources();
    environment = { ...process.env };
    time = processorTime();
  };
  // Tests run in the order in which they are defined, so this one holds up all others until every file is loaded.
  it('the files of a group load', async () => {
    await loaded.promise;
    remember();
  });
  try {
    for (const file of files) {
      const name = relative('', file);
      // A hook at the top of a file belongs to its suite, so it runs before the next file.
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      describe(name, async () => {
        await import(pathToFileURL(file).href).then(() => resolve(), reject);
      });
      await promise;
      it(`${name} leaves no sockets, timers or environment variables behind`, async t => {
        t.diagnostic(`${processorTime() - time} ms of processor time: ${name}`);
        try {
          await assertNothingLeft(resources);
          assert.deepEqual({ ...process.env }, environment);
        } finally {
          // Only the file that leaves something behind fails, and not the files after it.
          remember();
        }
      });
    }
    loaded.resolve();
  } catch (error) {
    loaded.reject(error);
  }
}

/**
 * The processor time of this process and, on Linux, of its children that have ended, in milliseconds. Servers and the browser,
 * which all files share, are not children.
 */
function processorTime(): number {
  const file = '/proc/self/stat';
  if (!existsSync(file)) {
    const { user, system } = process.cpuUsage();
    return Math.round((user + system) / 1_000);
  }
  // proc(5): the numbers 14 to 17, in units of 10 ms. The second is a name in parentheses, which can contain spaces.
  const values = readFileSync(file, 'utf8').split(') ').at(-1)!.split(' ').slice(11, 15);
  return values.reduce((sum, value) => sum + 10 * Number(value), 0);
}
