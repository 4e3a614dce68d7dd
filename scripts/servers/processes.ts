import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

interface Process {
  pid: number;
  parent: number;
}

/** Returns the process and all its descendants, itself first; none if it does not run. */
export function withDescendants(pid: number): number[] {
  const all = runningProcesses();
  const family = all.filter(process => process.pid === pid).map(process => process.pid);
  for (const member of family) {
    family.push(...all.filter(({ parent }) => parent === member).map(process => process.pid));
  }
  return family;
}

/** Waits until none of the processes runs. Returns false if one still runs after `milliseconds`. */
export async function haveEnded(pids: readonly number[], milliseconds: number): Promise<boolean> {
  const deadline = performance.now() + milliseconds;
  while (runningProcesses().some(({ pid }) => pids.includes(pid))) {
    if (performance.now() > deadline) return false;
    await setTimeout(10);
  }
  return true;
}

/** Sends a signal to each process that still exists. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** Kills a process and its descendants, including paused ones and those that it starts in the meantime. */
export async function killTree(pid: number): Promise<void> {
  // A stopped process starts no more children.
  signalAll([pid], 'SIGSTOP');
  const family = withDescendants(pid);
  signalAll(family, 'SIGKILL');
  if (!(await haveEnded(family, 10_000))) throw new Error(`Process ${pid} cannot be ended`);
}

/** Returns the running processes, without zombies. */
function runningProcesses(): Process[] {
  return process.platform === 'linux' ? fromProc() : fromPs();
}

/** Small Debian images have no `ps`. */
function fromProc(): Process[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(pid => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        // "pid (name) state parent …". The name can contain any character.
        const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return state === 'Z' || state === 'X' ? [] : [{ pid: Number(pid), parent: Number(parent) }];
      } catch {
        return [];
      }
    });
}

function fromPs(): Process[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .filter(([, , state]) => state !== undefined && !state.startsWith('Z'))
    .map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }));
}
