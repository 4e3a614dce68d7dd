// Runs tests: npm run test:fast, test:service or test:postgres [-- [OPTION …] [FILE, directory or pattern …]].
// Options are those of `node --test`, such as --test-name-pattern=cursor. Without a file it runs all tests of the suite.
import { existsSync, globSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

interface Suite {
  files: readonly string[];
  /** Those of the files that share processes when the whole suite runs. */
  together?: readonly string[];
  options: readonly string[];
  environment?: Record<string, string>;
  /** Whether the tests need a PostgreSQL and a Redis. */
  withServers: boolean;
}

/** The tests of both suites with servers, and how long a file or a group of files may take, in milliseconds. */
const options = ['--test-concurrency=3', '--test-timeout=600000'];

/** How many files share a process. More would save little, and leave a processor idle while the last group ends. */
const GROUP_SIZE = 6;

/** Files that have a process of their own: their page and its service stay open until the process ends. */
const ALONE = '**/*browser.test.ts';

const postgresFiles = [
  'service/test/{journeys,input,access,contract,rules,races,events,traces}/**/*.test.ts',
  'service/test/console/{bulk,selection,import,import-edges}-browser.test.ts',
  'service/test/sdk/{batch,calls,client-browser,pacing,subscriptions}.test.ts',
  'service/test/cli/{commands,import-resume}.test.ts',
];

const suites: Record<string, Suite> = {
  // The tests share a process, because starting one for each file takes longer than running its tests.
  fast: {
    files: ['service/src/**/*.test.ts', 'web/portal/*.test.js', 'web/console/src/**/*.test.ts'],
    options: ['--test-isolation=none', '--test-timeout=60000'],
    withServers: false,
  },
  service: {
    files: ['service/test/**/*.test.ts'],
    together: [...postgresFiles, 'service/test/{counters,db}/**/*.test.ts'],
    options,
    withServers: true,
  },
  postgres: {
    files: postgresFiles,
    together: postgresFiles,
    options,
    environment: { TEST_STORE: 'postgres' },
    withServers: true,
  },
};

try {
  const [name = '', ...args] = process.argv.slice(2);
  const suite = suites[name];
  if (!suite) throw new Error(`Name the suite to run: ${Object.keys(suites).join(', ')}`);
  runInstead(name, suite, args);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 2;
}

/** Replaces this process, so that signals and the exit code are those of the tests. */
function runInstead(name: string, suite: Suite, args: readonly string[]): void {
  const options = args.filter(arg => arg.startsWith('-'));
  const named = args.filter(arg => !arg.startsWith('-'));
  const files = named.length > 0 ? named.flatMap(testsOf) : filesOf(name, suite);
  const node = process.execPath;
  const servers = suite.withServers ? [join(import.meta.dirname, 'with-servers.ts'), node] : [];
  const command = [...servers, '--test', ...suite.options, ...options, ...files];
  process.execve!(node, [node, ...command], { ...process.env, ...suite.environment });
}

/** All files of a suite, those that share a process as the file of their group. */
function filesOf(name: string, { files, together = [] }: Suite): readonly string[] {
  const shared = globSync(together, { exclude: [ALONE] }).toSorted();
  if (shared.length === 0) return files;
  const others = globSync(files).filter(file => !shared.includes(file));
  const count = Math.ceil(shared.length / GROUP_SIZE);
  // Neighbours, which often take equally long, are in different groups.
  const groups = Array.from({ length: count }, (_, i) => shared.filter((_, place) => place % count === i));
  return [...groups.map((group, i) => writeGroup(`${name}-${i + 1}`, group)), ...others];
}

/** Writes the program that runs the files of a group, and returns its path. */
function writeGroup(name: string, files: readonly string[]): string {
  // Node.js removes no types from files in node_modules: the program has none. `node --test` finds it by its absolute path only.
  const directory = resolve('node_modules/.cache/petstore-tests');
  const path = join(directory, `${name}.mjs`);
  const module = join(import.meta.dirname, '../service/test/support/test-group.ts');
  const list = JSON.stringify(
    files.map(file => resolve(file)),
    null,
    2,
  );
  mkdirSync(directory, { recursive: true });
  writeFileSync(
    path,
    `import { runTogether } from ${JSON.stringify(module)};\nawait runTogether(${list});\n`,
  );
  return path;
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
