// Builds the packages that the service offers under /packages, unless they are newer than their sources: the client, and the command
// with the client inside. Runs on Node.js 20 or newer, after build-command.mjs.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const result = join(root, 'packages');
const index = join(result, 'index.json');

/** What each package contains, and what some of them contain. */
const NEEDED = ['package.json', 'dist'];
const FURTHER = ['bin', 'README.md', 'LICENSE'];

/** The packages of this project that the command needs: others of the same name may be on a registry. */
const BUNDLED = { '@petstore/client': 'sdk', '@petstore/pet-files': 'pet-files' };

const sources = globSync('{sdk,pet-files,cli}/{dist/**,bin/*,package.json,README.md}', { cwd: root });
const newest = Math.max(...[import.meta.filename, ...sources.map(file => join(root, file))].map(changedAt));
if (changedAt(index) < newest) build();

function build() {
  const work = mkdtempSync(join(tmpdir(), 'petstore-packages-'));
  try {
    const client = pack(work, 'client', stage(work, 'sdk'));
    const command = pack(work, 'command', stageCommand(work));
    // A service may read the packages at the same time: it reads the index first.
    mkdirSync(result, { recursive: true });
    for (const { file } of [client, command]) {
      cpSync(join(work, file), join(result, `${file}.new`));
      renameSync(join(result, `${file}.new`), join(result, file));
    }
    writeFileSync(`${index}.new`, `${JSON.stringify({ packages: [client, command] }, null, 2)}\n`);
    renameSync(`${index}.new`, index);
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** Copies what a workspace publishes. Returns the directory. */
function stage(work, workspace, directory = join(work, workspace)) {
  for (const name of [...NEEDED, ...FURTHER]) {
    const from = join(root, workspace, name);
    // A package without code would be packed, too: the copy of a missing folder fails.
    if (NEEDED.includes(name) || changedAt(from)) cpSync(from, join(directory, name), { recursive: true });
  }
  return directory;
}

function stageCommand(work) {
  const directory = stage(work, 'cli');
  for (const [name, workspace] of Object.entries(BUNDLED))
    stage(work, workspace, join(directory, 'node_modules', name));
  const file = join(directory, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...manifest, bundleDependencies: Object.keys(BUNDLED) }, null, 2));
  return directory;
}

/** Packs a directory as a file with this name. Returns its entry in the index. */
function pack(work, name, directory) {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', work];
  const { status, stdout, stderr, error } = spawnSync('npm', args, { cwd: directory, encoding: 'utf8' });
  if (status !== 0) throw error ?? new Error(`npm pack failed: ${stderr}`);
  const [packed] = JSON.parse(stdout);
  const file = `${name}.tgz`;
  renameSync(join(work, packed.filename), join(work, file));
  const bytes = readFileSync(join(work, file));
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  return { file, name: packed.name, version: packed.version, size: bytes.length, integrity };
}

/** Returns when a file was changed last; 0 if it does not exist. */
function changedAt(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
