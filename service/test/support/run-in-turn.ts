import assert from 'node:assert/strict';
import asyncHooks, { type AsyncHook } from 'node:async_hooks';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { assertNothingLeft, openResources } from './resources.ts';

/**
 * With these hooks, node:test follows each promise, socket and timer to its test. While a file loads, this finds the suite of each test.
 * While the tests run, it would only find the test that an uncaught error belongs to, and the suite of a hook that a test or a hook adds
 * (`t.after` needs no search), and take an eighth of the processor time.
 */
const hooks: AsyncHook[] = [];
const { createHook } = asyncHooks;
asyncHooks.createHook = callbacks => {
  const hook = createHook(callbacks);
  hooks.push(hook);
  return hook;
};
const { describe, it } = await import('node:test');

/** How long after its last test a process may take to end, in milliseconds. */
const END_TIMEOUT = 10_000;

/** Ends the file that runs, which an uncaught error belongs to. */
let running = new AbortController();
for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, error => running.abort(error));

/**
 * Runs test files in this process, one after the other: starting a process and loading the service for each file takes longer than
 * most of their tests. Several processes share the list, each takes the next file, and `taken` is their directory of the places in
 * the list that a process has taken. After each file and its hooks, a test checks that it leaves nothing to the next one, and
 * reports the processor time of the file to `scripts/test-reporter.ts`.
 */
export async function runInTurn(files: readonly string[], taken: string): Promise<void> {
  for (const [place, file] of files.entries()) {
    if (!take(join(taken, String(place)))) continue;
    const name = relative('', file);
    const resources = openResources();
    const environment = { ...process.env };
    const time = processorTime();
    running = new AbortController();
    for (const hook of hooks) hook.enable();
    // A hook at the top of a file belongs to its suite, so it runs before the next file.
    const loaded = Promise.withResolvers<void>();
    void describe(name, { signal: running.signal }, async () => {
      try {
        await import(pathToFileURL(file).href);
      } finally {
        loaded.resolve();
      }
    });
    await loaded.promise;
    for (const hook of hooks) hook.disable();
    await it(`${name} leaves no sockets, timers or environment variables behind`, async t => {
      t.diagnostic(`${processorTime() - time} ms of processor time: ${name}`);
      await assertNothingLeft(resources);
      assert.deepEqual({ ...process.env }, environment);
    });
  }
  // A failed test may have left a server or a connection, with which the process would never end. At this signal, node:test reports
  // all results and ends it.
  setTimeout(() => process.kill(process.pid, 'SIGTERM'), END_TIMEOUT).unref();
}

/** Returns whether this process is the first to create a directory. */
function take(directory: string): boolean {
  try {
    mkdirSync(directory);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
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
