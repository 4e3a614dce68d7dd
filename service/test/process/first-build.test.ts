import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { root } from '../support/deploy-files.ts';
import { dataDirectory } from '../support/service-process.ts';

/** Copies the sources of the packages, with the packages that `npm start` installs and no others. */
function cloneToRun(t: TestContext): string {
  const directory = dataDirectory(t);
  for (const name of ['package.json', 'LICENSE', 'CHANGELOG.md'])
    cpSync(join(root, name), join(directory, name));
  for (const name of ['scripts', 'service/src', 'sdk', 'pet-files', 'cli'])
    cpSync(join(root, name), join(directory, name), {
      recursive: true,
      filter: path => !/\/(dist[^/]*|node_modules)$/.test(path),
    });
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  for (const [path, { dev, link }] of Object.entries<{ dev?: boolean; link?: boolean }>(packages)) {
    if (dev || link || !/^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) || !existsSync(join(root, path)))
      continue;
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    symlinkSync(join(root, path), join(directory, path));
  }
  return directory;
}

/** Changes a file as an archive does, which keeps an earlier time of modification. */
function touch(file: string): void {
  utimesSync(file, 0, 0);
}

it('the build of a first start makes the packages without a compiler, and that of a later start does nothing', t => {
  const directory = cloneToRun(t);
  assert.ok(!existsSync(join(directory, 'node_modules/typescript')));
  const build = () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/build-packages.mjs'], {
      cwd: directory,
      encoding: 'utf8',
    });
    return { status, stderr };
  };
  const inode = () => statSync(join(directory, 'packages/index.json')).ino;
  const note = 'Building the packages of the client and of the command …\n';
  assert.deepEqual(build(), { status: 0, stderr: note });
  const first = inode();
  assert.deepEqual(build(), { status: 0, stderr: '' });
  assert.equal(inode(), first);
  const { packages } = JSON.parse(readFileSync(join(directory, 'packages/index.json'), 'utf8'));
  for (const { file, size } of packages) assert.equal(statSync(join(directory, 'packages', file)).size, size);

  // A clone that was updated.
  for (const [name, update] of [
    ['sdk/src/version.ts', touch],
    ['scripts/test-service.mjs', touch],
    ['cli/package.json', touch],
    ['sdk/src/resources/verify-webhook.ts', rmSync],
  ] as const) {
    update(join(directory, name));
    assert.deepEqual(build(), { status: 0, stderr: note }, name);
  }
});

it('the command of a clone without packages names npm run setup', t => {
  const directory = cloneToRun(t);
  rmSync(join(directory, 'node_modules'), { recursive: true });
  const { status, stderr } = spawnSync(process.execPath, [join(directory, 'cli/bin/petstore.js')], {
    encoding: 'utf8',
  });
  assert.equal(status, 1);
  assert.match(stderr, /^Error: Cannot find package 'rolldown' .*: run `npm run setup`.*\n$/);
});

it('npm packs no workspace of a clone, which has no code before the build and no version', () => {
  for (const workspace of ['sdk', 'pet-files', 'cli']) {
    const { version } = JSON.parse(readFileSync(join(root, workspace, 'package.json'), 'utf8'));
    assert.equal(version, undefined, workspace);
  }
  const { status, stderr } = spawnSync('npm', ['pack', '--dry-run', '--offline', '-w', 'pet-files'], {
    cwd: root,
    encoding: 'utf8',
  });
  assert.equal(status, 1);
  assert.match(stderr, /Invalid package, must have name and version/);
});
