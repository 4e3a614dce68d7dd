import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { temporaryDirectory } from './at-exit.ts';

const PROBE_MS = 1000;

/** Describes the machine, on which the figures depend, in one sentence. */
export function describeMachine(): string {
  const model = cpus()[0]?.model.trim();
  const syncs = syncsPerSecond().toLocaleString('en');
  return `Node.js ${process.version}, ${cpus().length} × ${model}, a disk that completes ${syncs} fdatasync calls a second.`;
}

/** Measures how many appends of 4 KiB per second reach the disk of the stores under test, one after another. */
function syncsPerSecond(): number {
  const file = openSync(join(temporaryDirectory(), 'probe'), 'w');
  const block = Buffer.alloc(4096);
  const started = performance.now();
  let syncs = 0;
  while (performance.now() - started < PROBE_MS) {
    writeSync(file, block);
    fdatasyncSync(file);
    syncs++;
  }
  closeSync(file);
  return Math.round((syncs * 1000) / (performance.now() - started));
}
