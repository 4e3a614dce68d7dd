// Stops a server after the process that started it has ended for any reason. A handler in that process is not enough, because
// SIGKILL runs no handlers; but its end always closes the pipe that is the standard input of this program.
//
// Arguments: the signal for a quick shutdown of the server, and a directory to remove after it, if any. Each line on standard
// input is the process ID of the running server; an empty line means that none is running.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { haveEnded, signalAll, withDescendants } from './processes.ts';

const [signal, directory] = process.argv.slice(2);
let pid: number | undefined;
for await (const line of createInterface({ input: process.stdin })) pid = Number(line) || undefined;

if (pid !== undefined) {
  const family = withDescendants(pid);
  // A paused process receives only SIGKILL.
  signalAll(family, 'SIGCONT');
  signalAll(family.slice(0, 1), signal as NodeJS.Signals);
  if (!(await haveEnded(family, 5_000))) {
    signalAll([...family, ...withDescendants(pid)], 'SIGKILL');
    await haveEnded(family, 5_000);
  }
}
if (directory) rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
