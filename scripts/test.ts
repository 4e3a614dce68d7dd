// Runs tests: npm run test:fast, test:service or test:postgres [-- [OPTION …] [FILE, directory or pattern …]].
// Options are those of `node --test`, such as --test-name-pattern=cursor. Without a file it runs all tests of the suite.
import { existsSync, globSync, statSync } from 'node:fs';
import { join } from 'node:path';

interface Suite {
  files: readonly string[];
  options: readonly string[];
  environment?: Record<string, string>;
  /** Whether the tests need a PostgreSQL and a Redis. */
  withServers: boolean;
}

/** The tests of both suites with servers, and how long a file may take, in milliseconds. */
const options = ['--test-concurrency=3', '--test-timeout=300000'];

const suites: Record<string, Suite> = {
  // The tests share a process, because starting one for each file takes longer than running its tests.
  fast: {
    files: ['service/src/**/*.test.ts', 'web/**/*.test.js'],
    options: ['--test-isolation=none', '--test-timeout=60000'],
    withServers: false,
  },
  service: { files: ['service/test/**/*.test.ts'], options, withServers: true },
  postgres: {
    files: ['service/test/{journeys,input,access,contract,rules,races,events,traces}/**/*.test.ts'],
    options,
    environment: { TEST_STORE: 'postgres' },
    withServers: true,
  },
};

try {
  const [name = '', ...args] = process.argv.slice(2);
  const suite = suites[name];
  if (!suite) throw new Error(`Name the suite to run: ${Object.keys(suites).join(', ')}`);
  runInstead(suite, args);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 2;
}

/** Replaces this process, so that signals and the exit code are those of the tests. */
function runInstead(suite: Suite, args: readonly string[]): void {
  const options = args.filter(arg => arg.startsWith('-'));
  const named = args.filter(arg => !arg.startsWith('-'));
  const files = named.length > 0 ? named.flatMap(testsOf) : suite.files;
  const node = process.execPath;
  const servers = suite.withServers ? [join(import.meta.dirname, 'with-servers.ts'), node] : [];
  const command = [...servers, '--test', ...suite.options, ...options, ...files];
  process.execve!(node, [node, ...command], { ...process.env, ...suite.environment });
}

/** The files that a file, a directory or a pattern names. */
function testsOf(name: string): string[] {
  const isDirectory = existsSync(name) && statSync(name).isDirectory();
  const files = globSync(isDirectory ? `${name}/**/*.test.{ts,js}` : name);
  if (files.length === 0) {
    throw new Error(
      `No test is named ${name}. Write the value of an option after "=": --test-name-pattern=cursor`,
    );
  }
  const other = files.find(file => !/\.test\.[tj]s$/.test(file));
  if (other !== undefined)
    throw new Error(`${other} is not a file of tests: their names end in .test.ts or .test.js`);
  return files;
}
