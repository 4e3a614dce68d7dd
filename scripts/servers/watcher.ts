// Takes a server down once the process that started it has gone, whichever way it went. No handler in that process
// would do: SIGKILL runs none. But the pipe that is this program's standard input closes with its last breath.
//
// Arguments: the signal that ends the server quickly, and the directory to remove after it, if any. Each line on
// standard input is the process ID of the server that now runs; an empty one says that none does.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { haveEnded, signalAll, withDescendants } from './processes.ts';

const [signal, directory] = process.argv.slice(2);
let pid: number | undefined;
for await (const line of createInterface({ input: process.stdin })) pid = Number(line) || undefined;

if (pid !== undefined) {
  const family = withDescendants(pid);
  // A paused process hears only SIGKILL.
  signalAll(family, 'SIGCONT');
  signalAll(family.slice(0, 1), signal as NodeJS.Signals);
  if (!(await haveEnded(family, 5_000))) {
    signalAll([...family, ...withDescendants(pid)], 'SIGKILL');
    await haveEnded(family, 5_000);
  }
}
if (directory) rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
