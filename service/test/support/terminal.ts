import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { bareEnvironment, type Ended, endOf } from './service-process.ts';
import { until } from './until.ts';

const main = join(import.meta.dirname, '../../src/main.ts');

/** Runs a program on a new terminal, whose input and output are those of this program, and ends with its exit code. */
const ON_TERMINAL = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';

interface OnTerminal {
  /** The end of the command. Its `stdout` is everything that the terminal has shown. */
  ended: Promise<Ended>;
  /** Waits until the terminal shows a text, and returns everything that it has shown. */
  shows(text: string): Promise<string>;
  type(text: string): void;
  /** Presses Ctrl-C and waits for the end of the command. Returns everything that the terminal has shown. */
  interrupt(): Promise<string>;
}

/** A command that runs `serve`. */
export const serveCommand = [process.execPath, main, 'serve'];

/** Starts `serve` on a terminal. */
export function serveOnTerminal(t: TestContext, environment: Record<string, string>): OnTerminal {
  return onTerminal(t, serveCommand, environment);
}

/** Starts a command on a terminal with 100 columns. If it still runs when the test ends, the terminal is closed. */
export function onTerminal(
  t: TestContext,
  command: readonly string[],
  environment: Record<string, string>,
): OnTerminal {
  const sized = ['sh', '-c', 'stty cols 100 && exec "$@"', 'sh', ...command];
  const child = spawn('python3', ['-c', ON_TERMINAL, ...sized], {
    env: { ...bareEnvironment(), ...environment },
    stdio: 'pipe',
  });
  const ended = endOf(child);
  let shown = '';
  child.stdout.on('data', text => {
    shown += text;
  });
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    ended,
    shows: async text => {
      await until(`the terminal shows "${text}"`, () => shown.includes(text));
      return shown;
    },
    type: text => child.stdin.write(text),
    interrupt: async () => {
      child.stdin.write('\x03');
      return (await ended).stdout;
    },
  };
}
