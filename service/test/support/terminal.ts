import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { bareEnvironment } from './service-process.ts';
import { until } from './until.ts';

const main = join(import.meta.dirname, '../../src/main.ts');

/** Runs a program on a new terminal, whose input and output are those of this program. */
const ON_TERMINAL = 'import pty, sys; pty.spawn(sys.argv[1:])';

interface OnTerminal {
  /** Waits until the terminal shows a text, and returns everything that it has shown. */
  shows(pattern: RegExp): Promise<string>;
  /** Presses Ctrl-C and waits for the end of the command. Returns everything that the terminal has shown. */
  interrupt(): Promise<string>;
}

/** Starts a command of `main.ts` on a terminal. If it still runs when the test ends, the terminal is closed. */
export function onTerminal(t: TestContext, args: string[], environment: Record<string, string>): OnTerminal {
  const child = spawn('python3', ['-c', ON_TERMINAL, process.execPath, main, ...args], {
    env: { ...bareEnvironment(), ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  let shown = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', text => {
      shown += text;
    });
  }
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    shows: async pattern => {
      await until(`the terminal shows ${pattern}`, () => pattern.test(shown));
      return shown;
    },
    interrupt: async () => {
      child.stdin.write('\x03');
      await ended;
      return shown;
    },
  };
}
