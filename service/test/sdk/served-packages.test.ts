import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { installPacked } from '../support/packed.ts';
import { startRegistry } from '../support/registry.ts';
import { dataDirectory } from '../support/service-process.ts';
import { useShop } from '../support/use-shop.ts';
import { assertNone, valuesOf } from '../support/values.ts';

const root = join(import.meta.dirname, '../../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/build-packages.mjs')], {
  encoding: 'utf8',
});
assert.equal(status, 0, stderr);

const shop = useShop({ alone: false });

interface Entry {
  file: string;
  name: string;
  version: string;
  size: number;
  integrity: string;
}

async function entries(): Promise<Entry[]> {
  const response = await fetch(`${shop.origin}/packages`);
  assert.equal(response.headers.get('content-type'), 'application/json');
  assert.equal(response.headers.get('cache-control'), 'no-cache');
  return ((await response.json()) as { packages: Entry[] }).packages;
}

/** An empty project outside of this one. */
function emptyProject(t: TestContext): string {
  const path = dataDirectory(t);
  writeFileSync(join(path, 'package.json'), '{"type":"module"}');
  return path;
}

/** Runs a program without blocking the service, which runs in this process. */
async function run(cwd: string, program: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd });
  return stdout;
}

/** A registry that is not there is asked once. */
const options = ['--omit=optional', '--no-audit', '--fetch-retries=0', '--ignore-scripts'];

describe('the packages that a service offers', () => {
  it('have its version and the hashes of the list, and are revalidated with each request', async () => {
    const packages = await entries();
    assert.deepEqual(valuesOf(packages, 'file', 'name', 'version'), [
      ['client.tgz', '@petstore/client', version],
      ['command.tgz', '@petstore/cli', version],
    ]);
    for (const { file, size, integrity } of packages) {
      const headers = { 'accept-encoding': 'gzip' };
      const response = await fetch(`${shop.origin}/packages/${file}`, { headers });
      const bytes = Buffer.from(await response.arrayBuffer());
      assert.equal(bytes.length, size);
      assert.equal(`sha512-${createHash('sha512').update(bytes).digest('base64')}`, integrity);
      assert.equal(response.headers.get('content-encoding'), null);
      const etag = response.headers.get('etag')!;
      const again = await fetch(`${shop.origin}/packages/${file}`, { headers: { 'if-none-match': etag } });
      assert.equal(again.status, 304);
      for (const { headers } of [response, again]) assert.equal(headers.get('cache-control'), 'no-cache');
    }
    assert.equal((await fetch(`${shop.origin}/packages/other.tgz`)).status, 404);
  });

  it('install the client into an empty project, and npm notes its hash', async t => {
    const path = emptyProject(t);
    // The client needs no other package: npm asks no registry.
    await run(
      path,
      'npm',
      'install',
      ...options,
      '--registry=http://127.0.0.1:9',
      `${shop.origin}/packages/client.tgz`,
    );
    const { packages } = JSON.parse(readFileSync(join(path, 'package-lock.json'), 'utf8'));
    const [client] = await entries();
    assert.equal(packages['node_modules/@petstore/client'].integrity, client!.integrity);
    writeFileSync(
      join(path, 'program.js'),
      `import { PetStore } from '@petstore/client';
       console.log((await new PetStore({ baseUrl: process.argv[2] }).service.health()).status);`,
    );
    assert.equal(await run(path, process.execPath, 'program.js', shop.origin), 'ok\n');
  });

  it('install the command globally and in a project, with its client, which comes from no registry', async t => {
    const path = emptyProject(t);
    // The packages of others, without the command and its client.
    const registry = await startRegistry(t, installPacked('command'), name => !name.startsWith('@petstore/'));
    const url = `${shop.origin}/packages/command.tgz`;
    for (const [place, program] of [
      [[], 'node_modules/.bin/petstore'],
      [['--global', '--prefix', 'global'], 'global/bin/petstore'],
    ] as const) {
      await run(path, 'npm', 'install', ...options, `--registry=${registry}`, ...place, url);
      assert.equal(await run(path, program, '--version'), `${version}\n`);
    }
  });

  it('require a Node.js that the packages on which the command depends support', () => {
    const cwd = installPacked('command');
    const oldest = (path: string): string => {
      const { engines } = JSON.parse(readFileSync(join(cwd, path), 'utf8'));
      return /.*>= ?([\d.]+)/.exec(engines?.node)?.[1] ?? '';
    };
    const needed = oldest('node_modules/@petstore/cli/package.json');
    const others = globSync('node_modules/{*,@*/*}/package.json', { cwd });
    assertNone(others, path => needed.localeCompare(oldest(path), 'en', { numeric: true }) < 0);
  });
});
