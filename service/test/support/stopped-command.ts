import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { dataDirectory, start } from './service-process.ts';
import { until } from './until.ts';

const NODE_OPTIONS = `--import=${join(import.meta.dirname, 'file-calls.ts')}`;

/** The environment of a command that is killed at a point, such as `before 2`: before its second call of `file-calls.ts`. */
export const killedAt = (point: string) => ({ NODE_OPTIONS, TEST_KILL_AT: point });

/** The environment of a command that gets a signal at a point. */
export const interruptedAt = (point: string, signal: string) => ({
  NODE_OPTIONS,
  TEST_INTERRUPT_AT: point,
  TEST_SIGNAL: signal,
});

/** Starts a command, and resolves when it has reached a point. It continues when `resume` is called. */
export async function pausedAt(
  t: TestContext,
  point: string,
  args: string[],
  environment: Record<string, string>,
) {
  const signals = dataDirectory(t);
  const [reached, resumed] = [join(signals, 'reached'), join(signals, 'resume')];
  const wait = { TEST_WAIT_AT: point, TEST_REACHED: reached, TEST_RESUME: resumed };
  const paused = start(t, args, { ...environment, NODE_OPTIONS, ...wait });
  await until(`${args[0]} waits ${point}`, () => existsSync(reached));
  return { ...paused, resume: () => writeFileSync(resumed, '') };
}
