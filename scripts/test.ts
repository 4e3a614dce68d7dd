// Runs tests: npm run test:fast, test:service or test:postgres [-- [OPTION …] [FILE, directory or pattern …]].
// Without a file it runs all tests of the suite. npm test runs all suites together: test.ts check fast service postgres.
// Options are those of `node --test`, such as --test-name-pattern=cursor.
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, matchesGlob, resolve } from 'node:path';
import { isLong } from '../service/test/support/long.ts';

interface Suite {
  /** Patterns. */
  files: readonly string[];
  /** Patterns of files that the suite runs only with `npm run test:long`, or that another suite runs. */
  except?: readonly string[];
  options: readonly string[];
  /** How many processes share the files when whole suites run. */
  processes: number;
  /** Whether the tests need a PostgreSQL, a Redis and a browser. */
  withServers: boolean;
}

/** How long a test may take, in milliseconds. Alone, the 50 kills of `crash/crash` take three minutes. */
const TIMEOUT = `--test-timeout=${isLong ? 1_800_000 : 600_000}`;

/** The locale and the time zone, also of the browser, so that texts with numbers and days are the same on every machine. */
const PLACE = { LC_ALL: 'C.UTF-8', TZ: 'UTC' };

/** The store of a suite. */
const STORE = resolve('service/test/support/test-store.ts');

/** Files that each wait about a minute for other processes. */
const WAITING = 'service/test/crash/**/*.test.ts';

/** What every file with tests of pages imports. Such a file takes about four times as long as another one. */
const BROWSER = resolve('service/test/support/launch-browser.ts');

/** A program waits for the browser and for other processes half of its time. Each further program compiles the same code again. */
const PROCESSES = 2 * Math.min(availableParallelism(), 4);

const withServers = {
  options: [`--test-concurrency=${PROCESSES}`, TIMEOUT],
  processes: PROCESSES,
  withServers: true,
};

/** The tests of rules for the code, which take little more time than the compiler and need no server. */
const CHECKS = [
  'service/test/layering.test.ts',
  'service/test/project/{decisions,exports,long-runs}.test.ts',
  'service/test/types/{program,rejected}.test.ts',
];

const suites: Record<string, Suite> = {
  // With `npm run lint` they are `npm run check`.
  check: { files: CHECKS, options: [TIMEOUT], processes: 1, withServers: false },
  // The tests share a process, because starting one for each file takes longer than running its tests.
  fast: {
    files: ['service/src/**/*.test.ts', 'web/portal/*.test.js', 'web/console/src/**/*.test.ts'],
    options: ['--test-isolation=none', '--test-timeout=60000'],
    processes: 1,
    withServers: false,
  },
  service: { files: ['service/test/**/*.test.ts'], except: CHECKS, ...withServers },
  // The files whose subject depends on stored data or shared counts, without those about HTTP, the gate, texts, pages and
  // commands. Writes with If-Match at once are in races/, and the streams that pages read are in events/.
  postgres: {
    files: [
      'service/test/{journeys,access,rules,races,events}/**/*.test.ts',
      'service/test/input/{batches,deadline,fuzz,stored-texts}.test.ts',
      'service/test/contract/{error-examples,example-exchanges}.test.ts',
      'service/test/console/{shop-day,live,tabs}-browser.test.ts',
      'service/test/sdk/subscriptions.test.ts',
      'service/test/cli/import-resume.test.ts',
      'service/test/process/check-history.test.ts',
    ],
    except: [
      'service/test/console/{live,tabs}-browser.test.ts',
      'service/test/input/batches.test.ts',
      'service/test/access/{addresses,connections,cross-origin,cross-origin-browser,keys-command,scopes,secrecy,should-retry,sign-in-link}.test.ts',
      'service/test/events/{browser,event-union,guide-receiver,webhooks-addresses}.test.ts',
      'service/test/journeys/{conditional-requests,lifecycle,methods,request-ids-and-versions}.test.ts',
    ],
    ...withServers,
  },
};

try {
  const args = process.argv.slice(2);
  const count = args.findIndex(arg => !Object.hasOwn(suites, arg));
  const names = count < 0 ? args : args.slice(0, count);
  if (names.length === 0) throw new Error(`Name the suite to run: ${Object.keys(suites).join(', ')}`);
  runInstead(names, args.slice(names.length));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 2;
}

/** Replaces this process, so that signals and the exit code are those of the tests. */
function runInstead(names: readonly string[], args: readonly string[]): void {
  const [name = ''] = names;
  const chosen = names.map(name => suites[name]!);
  const { withServers, options: ofSuite } = chosen.find(({ withServers }) => withServers) ?? chosen[0]!;
  const options = args.filter(arg => arg.startsWith('-'));
  const named = args.filter(arg => !arg.startsWith('-')).flatMap(testsOf);
  if (named.length > 0 && names.length > 1) throw new Error(`Name one suite to run files: ${name}`);
  const files = named.length > 0 ? named : withServers ? writePrograms(names) : names.flatMap(filesOf);
  const node = process.execPath;
  const servers = withServers ? [join(import.meta.dirname, 'with-servers.ts'), node] : [];
  const store = named.length > 0 && name === 'postgres' ? { TEST_STORE: 'postgres' } : {};
  const reporter = [
    `--test-reporter=${join(import.meta.dirname, 'test-reporter.ts')}`,
    '--test-reporter-destination=stdout',
  ];
  const own = options.some(option => option.startsWith('--test-reporter')) ? [] : reporter;
  const command = [...servers, '--test', ...ofSuite, ...own, ...options, ...files];
  process.execve!(node, [node, ...command], { ...process.env, ...PLACE, ...store });
}

/** All files of a suite. */
function filesOf(name: string): readonly string[] {
  const { files: patterns, except = [] } = suites[name]!;
  const exclude = isLong && name === 'postgres' ? [] : except;
  const files = globSync(patterns, { exclude }).toSorted();
  return name === 'postgres' ? files.filter(file => imports(file, STORE)) : files;
}

/**
 * Writes programs for `node --test` that share the files of several suites, and returns their paths. Each program runs the next
 * file of its suite until none is left. Node.js starts them in the order of their paths, so these are numbers: the programs of all
 * suites in turn, so that a suite whose files are all taken leaves its processes to another one. Node.js removes no types from
 * files in node_modules: the programs have none. It finds them there by absolute paths only.
 */
function writePrograms(names: readonly string[]): string[] {
  const root = resolve('node_modules/.cache/petstore-tests');
  // This process becomes the run of the tests, and two can run at once.
  const directory = join(root, String(process.pid));
  mkdirSync(root, { recursive: true });
  for (const run of readdirSync(root))
    if (run === String(process.pid) || !isRunning(Number(run))) rmSync(join(root, run), { recursive: true });
  const programs = names.flatMap(name => {
    const taken = join(directory, name);
    mkdirSync(taken, { recursive: true });
    const { processes } = suites[name]!;
    const text = programOf(name, longestFirst(filesOf(name)), taken);
    return Array.from({ length: processes }, (_, i) => ({ text, place: i / processes }));
  });
  return programs
    .toSorted((a, b) => a.place - b.place)
    .map(({ text }, i) => {
      const path = join(directory, `${String(i).padStart(3, '0')}.mjs`);
      writeFileSync(path, text);
      return path;
    });
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Puts the files that take long into the first half: the others fill the processes evenly at the end. */
function longestFirst(files: readonly string[]): string[] {
  const { long = [], other = [] } = Object.groupBy(files, file =>
    matchesGlob(file, WAITING) || imports(file, BROWSER) ? 'long' : 'other',
  );
  return [
    ...long.map((file, i) => ({ file, place: i / long.length / 2 })),
    ...other.map((file, i) => ({ file, place: i / other.length })),
  ]
    .toSorted((a, b) => a.place - b.place)
    .map(({ file }) => file);
}

/** Whether a file is a module or imports it, directly or through other files of tests. */
function imports(file: string, module: string): boolean {
  const path = resolve(file);
  if (path === module) return true;
  if (!path.startsWith(resolve('service/test')) || !existsSync(path)) return false;
  const names = readFileSync(path, 'utf8').matchAll(/^(?:import(?! type)|export|} from)\b.*'(\.[^']+)';$/gm);
  return Array.from(names, ([, name]) => resolve(dirname(path), name!)).some(found => imports(found, module));
}

/** The program that runs files, one after the other. Its tests read the name of the store when they load. */
function programOf(suite: string, files: readonly string[], taken: string): string {
  const module = join(import.meta.dirname, '../service/test/support/run-in-turn.ts');
  const list = JSON.stringify(
    files.map(file => resolve(file)),
    null,
    2,
  );
  const store = suite === 'postgres' ? `process.env.TEST_STORE = 'postgres';\n` : '';
  return `${store}const { runInTurn } = await import(${JSON.stringify(module)});\nawait runInTurn(${list}, ${JSON.stringify(taken)});\n`;
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
