import { readdirSync, readFileSync } from 'node:fs';

/** Returns the time that all running threads of a process have used so far, to the nanosecond. Linux only. */
export function cpuSeconds(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    // The first field is the time on a CPU (Linux, Documentation/scheduler/sched-stats.rst).
    const [used] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ');
    nanoseconds += Number(used);
  }
  return nanoseconds / 1e9;
}

/** Returns the resident memory of a process in megabytes (10^6 bytes), including shared pages. Linux only. */
export function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kibibytes === undefined) throw new Error(`No VmRSS for process ${pid}`);
  return (Number(kibibytes) * 1024) / 1e6;
}
