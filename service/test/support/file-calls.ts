/**
 * Loaded into a command by `--import`. It counts the `fs` calls that create or rename files or flush them to disk. At a
 * given call it ends the process as `kill -9` would, sends it SIGINT or another signal, or waits for a file.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const {
  TEST_KILL_AT,
  TEST_INTERRUPT_AT,
  TEST_SIGNAL = 'SIGINT',
  TEST_WAIT_AT,
  TEST_REACHED,
  TEST_RESUME,
} = process.env;

let calls = 0;

function reach(point: string): void {
  if (point === TEST_KILL_AT) process.kill(process.pid, 'SIGKILL');
  if (point === TEST_INTERRUPT_AT) process.kill(process.pid, TEST_SIGNAL);
  if (point !== TEST_WAIT_AT || !TEST_REACHED || !TEST_RESUME) return;
  fs.writeFileSync(TEST_REACHED, '');
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  while (!fs.existsSync(TEST_RESUME)) Atomics.wait(nothing, 0, 0, 10);
}

function watched<Call extends (...values: never[]) => void>(name: string, call: Call): Call {
  return ((...values: Parameters<Call>) => {
    const number = ++calls;
    reach(`before ${name}`);
    reach(`before ${number}`);
    call(...values);
    reach(`after ${number}`);
  }) as Call;
}

fs.linkSync = watched('linkSync', fs.linkSync);
fs.renameSync = watched('renameSync', fs.renameSync);
fs.fsyncSync = watched('fsyncSync', fs.fsyncSync);
syncBuiltinESMExports();
