// Installs missing packages: those of the service, and with the argument `develop` also those of the tests and tools. Runs on
// the installed Node.js, 18 or newer, because the pinned Node.js is one of the packages that it installs.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const runtime = join(root, 'node_modules', '.bin', 'node');

/** The list of installed packages. npm deletes it first and writes it last: it is missing after an interrupted installation. */
const record = join(root, 'node_modules', '.package-lock.json');

/** The hash of the lock file from which the packages were installed last. It is in `node_modules`, which `npm ci` removes. */
const stamp = join(root, 'node_modules', '.setup');

/** Contains the ID of the process that installs packages. It is not in `node_modules`, which `npm ci` removes. */
const lock = join(root, '.setup.lock');

/** The workspaces whose packages `npm start` needs: to run the service, and to build the console. */
const RUN = ['service', 'web', 'web/console'];

const parts = {
  run: ['--omit=dev', ...RUN.map(name => `--workspace=${name}`), '--include-workspace-root'],
  develop: ['--include=dev'],
};

const [part = 'run', ...others] = process.argv.slice(2);
if (!Object.keys(parts).includes(part) || others.length > 0) {
  fail(`scripts/setup.mjs expects run or develop, but was given "${[part, ...others].join(' ')}"`, 2);
}

const lockFile = join(root, 'package-lock.json');
const locked = readPackages(lockFile);
const lockHash = createHash('sha256').update(readFileSync(lockFile)).digest('hex');
let installed = readInstalled();

if (!isInstalled(part)) {
  await takeLock();
  // Another process may have installed them meanwhile.
  installed = readInstalled();
  if (!isInstalled(part)) {
    if (isInstalled('run')) await addDevelopmentPackages();
    else await reinstall();
    writeFileSync(stamp, lockHash);
    rejectWithoutRuntime();
  }
}

/** Waits until no other process installs packages here: two at once would delete each other's files. */
async function takeLock() {
  const own = `${lock}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  process.on('exit', () => rmSync(own, { force: true }));
  for (let isFirst = true; !link(own, lock); isFirst = false) {
    const owner = readOwner();
    if (owner === undefined) continue;
    if (!isRunning(owner)) {
      removeLockOf(owner, own);
      continue;
    }
    if (isFirst) {
      process.stderr.write(
        `Process ${owner} is installing packages here: waiting for it. If it is another program, delete ${lock}\n`,
      );
    }
    await sleep(200);
  }
  process.on('exit', () => rmSync(lock, { force: true }));
}

/** Removes the lock of a process that ended without doing so, unless another process has just replaced it. */
function removeLockOf(owner, own) {
  const removed = `${own}.removed`;
  try {
    renameSync(lock, removed);
  } catch (error) {
    if (error.code === 'ENOENT') return;
    throw error;
  }
  if (Number(readFileSync(removed, 'utf8')) !== owner) link(removed, lock);
  rmSync(removed);
}

/** Links a file to a new name, which has its content from the first moment. Returns whether the name was free. */
function link(file, name) {
  try {
    linkSync(file, name);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Returns the ID of the process that has the lock; `undefined` if none has it. */
function readOwner() {
  try {
    return Number(readFileSync(lock, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it belongs to another user.
    return error.code === 'EPERM';
  }
}

/** Returns the installed packages by path; none while npm changes them. */
function readInstalled() {
  return existsSync(record) ? readPackages(record) : {};
}

/** Returns the packages of a lock file by path; the project itself has the path ''. */
function readPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
}

/** Whether the packages of a part are installed: all locked ones, or those that were chosen from the same lock file to run. */
function isInstalled(name) {
  if (!existsSync(runtime) || !existsSync(record)) return false;
  const isLocked = path => installed[path].integrity === locked[path]?.integrity;
  const isPresent = path => path === '' || path in installed || locked[path].optional;
  if (!Object.keys(installed).every(isLocked)) return false;
  if (Object.keys(locked).every(isPresent)) return true;
  return name === 'run' && existsSync(stamp) && readFileSync(stamp, 'utf8') === lockHash;
}

/** Removes all packages and installs the locked versions, with the development packages if they were installed before. */
async function reinstall() {
  const hadDevelopmentPackages = Object.values(installed).some(({ dev }) => dev);
  process.stderr.write('Installing packages (once; 15 s to a minute) …\n');
  const { failure } = await npm('ci', ...(hadDevelopmentPackages ? parts.develop : parts[part]));
  if (failure !== undefined) fail(failure);
}

/** Keeps the installed packages, unlike `npm ci`: a running service may still load some of them. */
async function addDevelopmentPackages() {
  process.stderr.write('Installing the packages of tests and tools (once; 15 s to a minute) …\n');
  const before = readFileSync(record);
  rmSync(record);
  const { failure, signal } = await npm('install', '--no-save', ...parts.develop);
  if (failure === undefined) return;
  // npm removes the added packages if it fails, but not if it is killed.
  if (signal === null) writeFileSync(record, before);
  fail(failure);
}

async function npm(command, ...options) {
  // After Ctrl-C npm would continue for many seconds, and change the packages while the next start installs them. Before npm
  // starts, because a signal could otherwise end this process alone.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill('SIGKILL'));
  const child = spawn(
    'npm',
    [command, ...options, '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'],
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let printed = '';
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', text => {
      printed += text;
    });
  }
  child.on('error', ({ message }) => {
    printed += message;
  });
  const [status, signal] = await new Promise(resolve => child.on('close', (...end) => resolve(end)));
  if (status === 0) return {};
  if (signal !== null) return { signal, failure: `npm ${command} was interrupted: start again` };
  return {
    signal,
    failure: `${printed}\nnpm ${command} failed: see above. Check that the npm registry is reachable`,
  };
}

function rejectWithoutRuntime() {
  const { status, error } = spawnSync(runtime, ['--version']);
  if (status === 0) return;
  const platform = `${process.platform}-${process.arch}`;
  fail(
    `The pinned Node.js 24 is missing for ${platform} (${error?.message ?? `exit code ${status}`}). ` +
      'npm has it for Linux and macOS on x64 and arm64',
  );
}

function fail(message, code = 1) {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}
