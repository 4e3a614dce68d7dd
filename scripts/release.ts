// Sets the version of the release everywhere: npm run release -- 1.1.0. With --check it only compares. The version of the interface
// (`API_VERSION`) is another one: docs/releasing.md.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const CHANGELOG = 'CHANGELOG.md';
const NUMBER = String.raw`\d+\.\d+\.\d+(?:-[a-z]+\.\d+)?`;
/** The project, the version that the client sends, and tags of the image. Packages get the version when they are built. */
const STATED = new RegExp(
  String.raw`(?<="name": "petstore",\s+"version": "|const VERSION = '|/petstore:|newTag: )${NUMBER}`,
  'g',
);
const UNRELEASED = new RegExp(`^## (?:Unreleased|(${NUMBER}) — unreleased)$`, 'm');
const SECTION = new RegExp(`^## (${NUMBER}) — .*$`, 'm');

interface Place {
  file: string;
  line: number;
  version: string;
}

const [argument = ''] = process.argv.slice(2);
const failures = argument === '--check' ? differences() : set(argument);
for (const failure of failures) process.stderr.write(`${failure}\n`);
process.exitCode = failures.length > 0 ? 1 : 0;

function differences(): string[] {
  const current: string = JSON.parse(read('package.json')).version;
  const [, newest] = SECTION.exec(read(CHANGELOG)) ?? [];
  const logged = newest === current ? [] : [`${CHANGELOG}: the newest version is ${newest}, not ${current}`];
  const wrong = places().filter(({ version }) => version !== current);
  return [
    ...logged,
    ...wrong.map(
      ({ file, line, version }) =>
        `${file}:${line}: ${version} is not ${current}, the version in package.json`,
    ),
  ];
}

function set(version: string): string[] {
  if (!new RegExp(`^${NUMBER}$`).test(version)) return ['Name the version: npm run release -- 1.1.0'];
  const changes = read(CHANGELOG);
  const section = UNRELEASED.exec(changes);
  if (!section) return [`${CHANGELOG} has no section "## Unreleased" with the changes of ${version}`];
  const [heading, planned = version] = section;
  if (planned !== version) return [`${CHANGELOG} has the changes of ${planned}, not of ${version}`];
  const today = new Date().toISOString().slice(0, 10);
  write(CHANGELOG, changes.replace(heading, `## ${version} — ${today}`));
  for (const file of new Set(places().map(place => place.file)))
    write(file, read(file).replaceAll(STATED, version));
  return differences();
}

/** All places that state the version, in the files that git knows. */
function places(): Place[] {
  const { status, stdout, stderr } = spawnSync('git', ['grep', '-lIE', '[0-9]+\\.[0-9]+\\.[0-9]+'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`git grep failed: ${stderr}`);
  return stdout
    .trimEnd()
    .split('\n')
    .flatMap(file => {
      const text = read(file);
      return Array.from(text.matchAll(STATED), ({ 0: version, index }) => ({
        file,
        line: text.slice(0, index).split('\n').length,
        version,
      }));
    });
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

function write(file: string, text: string): void {
  writeFileSync(join(root, file), text);
}
