// Runs tests: npm run test:fast, test:service or test:postgres [-- [OPTION …] [FILE, directory or pattern …]].
// Options are those of `node --test`, such as --test-name-pattern=cursor. Without a file it runs all tests of the suite.
import { existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

interface Suite {
  /** Patterns. Files of earlier ones start earlier. */
  files: readonly string[];
  /** Whether only the files are part of the suite that use its store. */
  onlyOfStore?: boolean;
  /** Those of the files that share processes when the whole suite runs. */
  together?: readonly string[];
  options: readonly string[];
  environment?: Record<string, string>;
  /** Whether the tests need a PostgreSQL and a Redis. */
  withServers: boolean;
}

/** How long a file or a group of files may take, in milliseconds. */
const TIMEOUT = '--test-timeout=600000';

/** How many files share a process. More would save little, and leave a processor idle while the last group ends. */
const GROUP_SIZE = 6;

/** Files that have a process of their own: their page and its service stay open until the process ends. */
const ALONE = '**/*browser.test.ts';

/** How many files with a process of their own start after each group. Together they keep about one processor busy. */
const OTHERS_PER_GROUP = 3;

const postgresFiles = [
  'service/test/{journeys,input,access,contract,rules,races,events,traces}/**/*.test.ts',
  'service/test/console/{bulk,selection,import,import-edges}-browser.test.ts',
  'service/test/sdk/{batch,calls,client-browser,pacing,subscriptions}.test.ts',
  'service/test/cli/{commands,import-resume}.test.ts',
  'service/test/console/{shop-day,today,orders,stock,hold,categories}-browser.test.ts',
];

const suites: Record<string, Suite> = {
  // The tests share a process, because starting one for each file takes longer than running its tests.
  fast: {
    files: ['service/src/**/*.test.ts', 'web/portal/*.test.js', 'web/console/src/**/*.test.ts'],
    options: ['--test-isolation=none', '--test-timeout=60000'],
    withServers: false,
  },
  service: {
    // Files that take long start early: a long one at the end would leave a processor idle.
    files: [
      'service/test/{replicas,sdk,portal,console,faults,crash}/**/*.test.ts',
      'service/test/**/*.test.ts',
    ],
    together: [...postgresFiles, 'service/test/{counters,db}/**/*.test.ts'],
    // Most of the files outside the groups wait for other processes and for the browser.
    options: ['--test-concurrency=4', TIMEOUT],
    withServers: true,
  },
  postgres: {
    files: postgresFiles,
    onlyOfStore: true,
    together: postgresFiles,
    options: ['--test-concurrency=3', TIMEOUT],
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

/** All files of a suite; those that share processes are in groups. */
function filesOf(name: string, { files, together = [], onlyOfStore = false }: Suite): readonly string[] {
  const isIncluded = (file: string) => !onlyOfStore || usesStore(resolve(file));
  const all = files.flatMap(pattern => globSync(pattern).toSorted()).filter(isIncluded);
  const shared = globSync(together, { exclude: [ALONE] })
    .toSorted()
    .filter(isIncluded);
  if (shared.length === 0) return all;
  const others = [...new Set(all)].filter(file => !shared.includes(file));
  const count = Math.ceil(shared.length / GROUP_SIZE);
  // Neighbours, which often take equally long, are in different groups.
  const groups = Array.from({ length: count }, (_, i) => shared.filter((_, place) => place % count === i));
  const programs = groups.flatMap((group, i) => [
    groupOf(group),
    ...others.slice(i * OTHERS_PER_GROUP, (i + 1) * OTHERS_PER_GROUP).map(programOf),
  ]);
  programs.push(...others.slice(count * OTHERS_PER_GROUP).map(programOf));
  return writePrograms(name, programs);
}

/** Whether a file imports the store of the suite, directly or through other files of tests. */
function usesStore(file: string): boolean {
  if (file === resolve('service/test/support/test-store.ts')) return true;
  if (!file.startsWith(resolve('service/test')) || !existsSync(file)) return false;
  const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export|} from)\b.*'(\.[^']+)';$/gm);
  return Array.from(imports, ([, path]) => resolve(dirname(file), path!)).some(usesStore);
}

/** The program that runs files one after the other. */
function groupOf(files: readonly string[]): string {
  const module = join(import.meta.dirname, '../service/test/support/test-group.ts');
  const list = JSON.stringify(
    files.map(file => resolve(file)),
    null,
    2,
  );
  return `import { runTogether } from ${JSON.stringify(module)};\nawait runTogether(${list});\n`;
}

/** The program that runs one file. */
function programOf(file: string): string {
  return `import ${JSON.stringify(resolve(file))};\n`;
}

/**
 * Writes programs for `node --test` and returns their paths. It starts files in the order of their paths, so these are numbers.
 * Node.js removes no types from files in node_modules: the programs have none. It finds them there by absolute paths only.
 */
function writePrograms(name: string, programs: readonly string[]): string[] {
  const directory = resolve('node_modules/.cache/petstore-tests');
  mkdirSync(directory, { recursive: true });
  return programs.map((program, i) => {
    const path = join(directory, `${name}-${String(i).padStart(3, '0')}.mjs`);
    writeFileSync(path, program);
    return path;
  });
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
