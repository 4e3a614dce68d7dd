import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Ended } from './service-process.ts';

const root = join(import.meta.dirname, '../../..');
const cache = join(root, 'node_modules/.cache/petstore-command');
const BIN = 'node_modules/@petstore/cli/bin/petstore.js';

/**
 * Packs the command as for a release, and installs it in an empty directory with the packages that it needs. Returns the
 * directory. All test files share it, until the sources change.
 */
export function installCommand(): string {
  const patterns = ['{sdk,cli}/{src/**/*.ts,*.json,*.md}', 'cli/bin/*', 'package-lock.json', 'tsconfig.json'];
  const hash = createHash('sha256');
  for (const file of globSync(patterns, { cwd: root }).toSorted())
    hash.update(file).update(readFileSync(join(root, file)));
  const directory = join(cache, hash.digest('hex').slice(0, 16));
  if (existsSync(directory)) return directory;
  const own = join(cache, randomUUID());
  install(own);
  try {
    renameSync(own, directory);
  } catch (error) {
    // Another process has installed the same command meanwhile.
    if (!existsSync(directory)) throw error;
    rmSync(own, { recursive: true });
  }
  return directory;
}

/** The packages come from this project's `node_modules`, because tests use no registry. */
function install(directory: string): void {
  mkdirSync(directory, { recursive: true });
  // It is a project of its own.
  writeFileSync(join(directory, 'package.json'), '{}');
  // npm may be configured to run no scripts.
  run(root, process.execPath, 'scripts/build-command.mjs');
  const client = join(root, 'node_modules/@petstore/client');
  const packages = [join(root, 'cli'), ...packagesBelow(join(root, 'cli'))];
  const sources = packages.map(path => (path === client ? join(root, 'sdk') : path));
  run(root, 'npm', 'pack', '--ignore-scripts', '--pack-destination', directory, ...sources);
  const tarballs = globSync('*.tgz', { cwd: directory }).map(name => `./${name}`);
  run(
    directory,
    'npm',
    'install',
    '--offline',
    '--omit=optional',
    '--no-audit',
    '--no-package-lock',
    ...tarballs,
  );
}

/** Returns the directories of the packages that a package needs, directly and indirectly. */
function packagesBelow(directory: string, found = new Set<string>()): string[] {
  const { dependencies = {} } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    const path = find(directory, name);
    if (found.has(path)) continue;
    found.add(path);
    packagesBelow(path, found);
  }
  return [...found];
}

function find(from: string, name: string): string {
  const path = join(from, 'node_modules', name);
  return existsSync(path) ? path : find(dirname(from), name);
}

function run(directory: string, program: string, ...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: directory, encoding: 'utf8' });
  assert.equal(status, 0, `${program} ${args.join(' ')}: ${stdout}${stderr}`);
}

/** The installed command, run with an environment of its own. */
export class PackedCommand {
  readonly directory = installCommand();
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
    return import(pathToFileURL(join(this.directory, 'node_modules/@petstore/cli/dist', module)).href);
  }

  /** Starts the command. `input` is its standard input. */
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

  run(args: readonly string[], environment?: Record<string, string>, input?: string): Promise<Ended> {
    return this.start(args, environment, input).ended;
  }

  /** Runs a shell command line in which `petstore` is the command. */
  shell(line: string, environment: Record<string, string> = {}): Promise<Ended> {
    const program = `petstore() { ${JSON.stringify(process.execPath)} ${JSON.stringify(this.bin)} "$@"; }\n${line}`;
    return startProcess('bash', ['-c', program], { ...this.environment, ...environment }).ended;
  }

  /**
   * Starts the command on a terminal with a number of columns. Its standard output has what the terminal shows; write to the
   * standard input what is typed.
   */
  onTerminal(
    args: readonly string[],
    columns: number,
    environment: Record<string, string> = {},
  ): ChildProcess & { ended: Promise<Ended> } {
    const words = [process.execPath, this.bin, ...args].map(word => `'${word.replaceAll("'", "'\\''")}'`);
    const line = `stty cols ${columns} && exec ${words.join(' ')}`;
    const script =
      process.platform === 'linux' ? ['-qec', line, '/dev/null'] : ['-q', '/dev/null', 'sh', '-c', line];
    return startProcess(
      'script',
      script,
      { TERM: 'xterm', SHELL: '/bin/sh', ...this.environment, ...environment },
      undefined,
      true,
    );
  }
}

function startProcess(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
  input?: string,
  staysOpen = false,
): ChildProcess & { ended: Promise<Ended> } {
  const child = spawn(program, args, { env, stdio: 'pipe' });
  if (!staysOpen) child.stdin.end(input);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', text => {
      output[name] += text;
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', code => resolve({ code, ...output }));
  });
  return Object.assign(child, { ended });
}
