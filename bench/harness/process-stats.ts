import { readFileSync } from 'node:fs';

/** The unit of times in /proc: always 100 a second for user space, independent of the kernel's own tick. */
const TICKS_PER_SECOND = 100;

/** Returns the user and system time of all threads of a process so far. Linux only. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The second field is the name of the command and can contain spaces; utime and stime are the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Returns the resident memory of a process in megabytes (10^6 bytes), including shared pages. Linux only. */
export function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kibibytes === undefined) throw new Error(`No VmRSS for process ${pid}`);
  return (Number(kibibytes) * 1024) / 1e6;
}
