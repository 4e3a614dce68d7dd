import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { dataDirectory } from '../support/service-process.ts';

const root = join(import.meta.dirname, '../../..');
const version: string = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;

/** The text before and after the version of the release in each place that states it, but in package.json and the changelog. */
const places: readonly (readonly [file: string, before: string, after?: string])[] = [
  ['deploy/kubernetes/kustomization.yaml', 'newTag: '],
  ['docs/operations.md', 'registry.example.org/petstore:'],
  ['package-lock.json', '{\n  "name": "petstore",\n  "version": "'],
  ['package-lock.json', '"": {\n      "name": "petstore",\n      "version": "'],
  ['sdk/src/version.ts', "const VERSION = '"],
];
const files = ['CHANGELOG.md', 'package.json', ...new Set(places.map(([file]) => file))];

/** A project with copies of these files. */
class Project {
  readonly #directory: string;

  constructor(t: TestContext) {
    this.#directory = dataDirectory(t);
    for (const file of ['scripts/release.ts', ...files]) {
      mkdirSync(dirname(join(this.#directory, file)), { recursive: true });
      cpSync(join(root, file), join(this.#directory, file));
    }
    this.#git('init', '--quiet');
    this.edit('CHANGELOG.md', new RegExp(`^## ${version} — .*$`, 'm'), `## ${version} — unreleased`);
  }

  read(file: string): string {
    return readFileSync(join(this.#directory, file), 'utf8');
  }

  edit(file: string, part: string | RegExp, replacement: string): void {
    const text = this.read(file);
    assert.match(text, part instanceof RegExp ? part : new RegExp(RegExp.escape(part)));
    writeFileSync(join(this.#directory, file), text.replace(part, replacement));
  }

  release(argument: string) {
    this.#git('add', '--all');
    const script = join(this.#directory, 'scripts/release.ts');
    const { status, stderr } = spawnSync(process.execPath, [script, argument], { encoding: 'utf8' });
    return { status, stderr };
  }

  #git(...args: string[]): void {
    execFileSync('git', args, { cwd: this.#directory });
  }
}

describe('npm run release', () => {
  it('sets the version in every file, and dates the section of the changelog', t => {
    const project = new Project(t);
    assert.deepEqual(project.release(version), { status: 0, stderr: '' });
    project.edit('CHANGELOG.md', '## ', '## Unreleased\n\n- A change.\n\n## ');

    assert.deepEqual(project.release('2.3.4-rc.1'), { status: 0, stderr: '' });
    for (const [file, before, after = ''] of places)
      assert.ok(project.read(file).includes(`${before}2.3.4-rc.1${after}`), `${file}: ${before}`);
    assert.match(
      project.read('CHANGELOG.md'),
      /^# Changelog\n.*\n## 2\.3\.4-rc\.1 — \d{4}-\d\d-\d\d\n\n- A change\.\n\n## \S+ — \d{4}-\d\d-\d\d\n/s,
    );
    assert.equal(JSON.parse(project.read('package.json')).version, '2.3.4-rc.1');
    assert.deepEqual(project.release('--check'), { status: 0, stderr: '' });
  });

  it('rejects an argument that is not a version, and a version without a section in the changelog', t => {
    const project = new Project(t);
    for (const argument of ['', '1.2', 'v1.2.3', '1.2.3 '])
      assert.deepEqual(project.release(argument), {
        status: 1,
        stderr: 'Name the version: npm run release -- 1.1.0\n',
      });
    assert.deepEqual(project.release('9.9.9'), {
      status: 1,
      stderr: `CHANGELOG.md has the changes of ${version}, not of 9.9.9\n`,
    });
    assert.equal(project.release(version).status, 0);
    assert.match(project.release('9.9.9').stderr, /^CHANGELOG\.md has no section "## Unreleased"/);
    assert.equal(JSON.parse(project.read('package.json')).version, version);
  });
});

describe('the check of the version', () => {
  it('finds every place that states another one', t => {
    const project = new Project(t);
    assert.deepEqual(project.release('--check'), { status: 0, stderr: '' });
    const planted = places.map(([file, before, after = '']) => {
      const place = `${before}${version}${after}`;
      project.edit(file, place, `${before}0.0.9${after}`);
      const upTo = project.read(file).split(`${before}0.0.9${after}`)[0]! + before;
      return `${file}:${upTo.split('\n').length}: 0.0.9 is not ${version}, the version in package.json`;
    });
    const { status, stderr } = project.release('--check');
    assert.deepEqual([status, stderr.trimEnd().split('\n').toSorted()], [1, planted.toSorted()]);
  });

  it('finds a changelog that does not have it', t => {
    const project = new Project(t);
    project.edit('CHANGELOG.md', `## ${version}`, '## 0.0.9');
    assert.deepEqual(project.release('--check'), {
      status: 1,
      stderr: `CHANGELOG.md: the newest version is 0.0.9, not ${version}\n`,
    });
  });
});
