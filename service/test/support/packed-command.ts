import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { installPacked } from './packed.ts';
import { type Ended, endOf } from './service-process.ts';
import { onTerminal } from './terminal.ts';

const BIN = 'node_modules/@petstore/cli/bin/petstore.js';

/** What a command in this process can have instead of pipes and Ctrl-C. */
interface Replaced {
  signal?: AbortSignal;
  /** The width of a terminal, which standard output and standard error are then. */
  columns?: number;
  /** Whether standard output is a file, and only standard error is the terminal. */
  isToFile?: boolean;
  /** Gets what the command writes to standard output, before the result has it. */
  onOutput?: (text: string) => void;
  onError?: (text: string) => void;
}

/** The installed command, run with an environment of its own. */
export class PackedCommand {
  readonly directory = installPacked('command');
  readonly bin = join(this.directory, BIN);
  readonly environment: Record<string, string>;

  constructor(environment: Record<string, string>) {
    this.environment = {
      PATH: process.env.PATH!,
      NODE_COMPILE_CACHE: join(this.directory, 'compiled'),
      ...environment,
    };
  }

  /** Imports a module of the installed package. */
  load<Module>(module: string): Promise<Module> {
    return this.#import('dist', module);
  }

  /** Imports a module of the client that the installed package contains. */
  loadClient<Module>(module: string): Promise<Module> {
    return this.#import('node_modules/@petstore/client/dist', module);
  }

  #import(directory: string, module: string) {
    return import(pathToFileURL(join(this.directory, 'node_modules/@petstore/cli', directory, module)).href);
  }

  /** Runs the command in this process, which takes a tenth of the time of a process of its own. */
  async run(
    args: readonly string[],
    environment: Record<string, string> = {},
    { signal = new AbortController().signal, columns, isToFile = false, onOutput, onError }: Replaced = {},
  ): Promise<Ended> {
    const { Run } = await this.load<typeof import('../../../cli/src/run.ts')>('run.js');
    const output = { stdout: '', stderr: '' };
    const stream = (name: keyof typeof output, onText?: (text: string) => void) =>
      Object.assign(
        new Writable({
          decodeStrings: false,
          write: (text: string, _, done) => {
            onText?.(text);
            output[name] += text;
            done();
          },
        }),
        columns && !(isToFile && name === 'stdout') && { isTTY: true, columns },
      ) as Writable & NodeJS.WriteStream;
    const all = { ...this.environment, ...environment };
    const surroundings = {
      environment: all,
      configDirectory: join(all.XDG_CONFIG_HOME ?? all.HOME!, 'petstore'),
      stdout: stream('stdout', onOutput),
      stderr: stream('stderr', onError),
      signal,
    };
    return { code: await new Run(surroundings).run(args), ...output };
  }

  /** Starts the command as a process. `input` is its standard input. */
  start(
    args: readonly string[],
    environment: Record<string, string> = {},
    input?: string,
  ): ChildProcess & { ended: Promise<Ended> } {
    return startProcess(
      process.execPath,
      [this.bin, ...args],
      { ...this.environment, ...environment },
      input,
    );
  }

  /** Runs a shell command line in which `petstore` is the command. */
  shell(line: string, environment: Record<string, string> = {}): Promise<Ended> {
    const program = `petstore() { ${JSON.stringify(process.execPath)} ${JSON.stringify(this.bin)} "$@"; }\n${line}`;
    return startProcess('bash', ['-c', program], { ...this.environment, ...environment }).ended;
  }

  /** Starts the command on a terminal. */
  onTerminal(t: TestContext, args: readonly string[]): ReturnType<typeof onTerminal> {
    return onTerminal(t, [process.execPath, this.bin, ...args], { TERM: 'xterm', ...this.environment });
  }
}

function startProcess(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
  input?: string,
): ChildProcess & { ended: Promise<Ended> } {
  const child = spawn(program, args, { env, stdio: 'pipe' });
  child.stdin.end(input);
  return Object.assign(child, { ended: endOf(child) });
}
