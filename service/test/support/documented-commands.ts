import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { debianEnvironment, debianProgram } from '../../../scripts/servers/debian-programs.ts';
import { bareEnvironment } from './service-process.ts';

const root = join(import.meta.dirname, '../../..');

/** One or more commands that a document asks its reader to run. */
interface Documented {
  file: string;
  line: number;
  text: string;
}

const FENCE = /^( *)```(?:sh|bash|shell|console)\n(.*?)^ *```$/gms;
const INLINE_CODE = /`([^`]+)`/g;

/** How inline code starts when it is a command. */
const PROGRAM =
  /^(?:[A-Z_]+=\S+ )*(?:node_modules\/\.bin\/node|npm|docker|kubectl|systemctl|journalctl|psql|pg_\w+|createdb|sqlite3|redis-cli|curl|openssl|cp|mv) /;

/** The commands in documents. A test must use each of them at least once. */
export class DocumentedCommands {
  readonly #commands: Documented[];
  readonly #used = new Set<Documented>();

  constructor(...files: string[]) {
    this.#commands = files.flatMap(commandsIn);
  }

  find(part: string): string {
    const found = this.#commands.filter(({ text }) => text.includes(part));
    assert.equal(
      found.length,
      1,
      `${found.length} commands contain ${JSON.stringify(part)}; pass a longer part`,
    );
    this.#used.add(found[0]!);
    return found[0]!.text;
  }

  /** Commands that `find` has not returned and that contain none of `exceptions`. */
  unused(exceptions: readonly string[]): string[] {
    return this.#commands
      .filter(command => !this.#used.has(command) && !exceptions.some(part => command.text.includes(part)))
      .map(({ file, line, text }) => `${file}:${line}: ${text.trim()}`);
  }
}

function commandsIn(file: string): Documented[] {
  const document = readFileSync(join(root, file), 'utf8');
  const lineAt = (index: number) => document.slice(0, index).split('\n').length;
  const fences = [...document.matchAll(FENCE)].map(({ 1: indent = '', 2: text = '', index }) => ({
    file,
    line: lineAt(index),
    text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
  // Spaces keep the positions, and so the line numbers.
  const prose = document.replace(/^ *```.*?^ *```$/gms, fence => fence.replaceAll(/[^\n]/g, ' '));
  const inline = [...prose.matchAll(INLINE_CODE)]
    .map(({ 1: code = '', index }) => ({ file, line: lineAt(index), text: code.replaceAll(/\s+/g, ' ') }))
    .filter(({ text }) => PROGRAM.test(text));
  return [...fences, ...inline];
}

/** A checkout in the home directory of a user, in which a shell runs commands. */
export class Checkout {
  readonly directory: string;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #substitutions: Record<string, string>;

  /**
   * `directory` is the home directory. `checkout` is created in it if it does not exist. Each key of `substitutions` in
   * a command is replaced by its value; `docker` is the script that runs as `docker`.
   */
  constructor(
    directory: string,
    {
      environment,
      substitutions = {},
      docker = 'exit 1',
    }: { environment: Record<string, string>; substitutions?: Record<string, string>; docker?: string },
  ) {
    this.directory = join(directory, 'checkout');
    this.#substitutions = substitutions;
    const programs = join(directory, 'programs');
    for (const made of [this.directory, programs]) mkdirSync(made, { recursive: true });
    for (const name of ['node_modules', 'service']) symlinkSync(join(root, name), join(this.directory, name));
    writeFileSync(join(programs, 'docker'), `#!/bin/sh\n${docker}\n`);
    chmodSync(join(programs, 'docker'), 0o755);
    // Without this, curl exits with 0 when the service rejects a request.
    writeFileSync(join(directory, '.curlrc'), 'fail-with-body\nsilent\nshow-error\n');
    const { LD_LIBRARY_PATH = '' } = debianEnvironment({});
    const PATH = `${programs}:${dirname(debianProgram('pg_dump'))}:${process.env.PATH}`;
    this.#environment = { ...bareEnvironment(), HOME: directory, PATH, LD_LIBRARY_PATH, ...environment };
  }

  /** Runs commands with `sh -eu`, and returns their standard output. Rejects when one of them fails. */
  async run(commands: string): Promise<string> {
    let text = commands;
    for (const [documented, real] of Object.entries(this.#substitutions))
      text = text.replaceAll(documented, real);
    const { stdout, stderr } = await promisify(execFile)('sh', ['-euc', text], {
      cwd: this.directory,
      env: this.#environment,
    });
    assert.doesNotMatch(stderr, /warning/i, 'a documented command prints no warnings');
    return stdout;
  }
}
