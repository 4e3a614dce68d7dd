// Builds the packages that the service offers under /packages, unless they are newer than their sources: the client, and the command
// with the client inside. Runs on Node.js 20.19 or newer.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { results } from './build-command.mjs';
import { isOutdated } from './outdated.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const result = join(root, 'packages');
const index = join(result, 'index.json');

/** What each package contains, and what some of them contain. */
const NEEDED = ['package.json', 'dist'];
const FURTHER = ['bin', 'README.md'];
/** What every package gets from the project. */
const SHARED = ['LICENSE', 'CHANGELOG.md'];

/** The packages of this project that the command needs: others of the same name may be on a registry. */
const BUNDLED = { '@petstore/client': 'sdk', '@petstore/pet-files': 'pet-files' };

/** A build replaces all files of a workspace. */
const sources = Object.entries(results).flatMap(([workspace, result]) =>
  [`dist/${result}`, 'package.json', ...FURTHER].map(name => join(root, workspace, name)).filter(existsSync),
);
const shared = ['package.json', ...SHARED].map(name => join(root, name));
if (isOutdated(index, [fileURLToPath(import.meta.url), ...shared, ...sources])) await build();

async function build() {
  process.stderr.write('Building the packages of the client and of the command …\n');
  const work = mkdtempSync(join(tmpdir(), 'petstore-packages-'));
  try {
    const client = await pack(work, 'client', stage('sdk', join(work, 'sdk')));
    const command = await pack(work, 'command', stageCommand(join(work, 'cli')));
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

/** Copies what a workspace publishes, with the version of the project. Returns the directory. */
function stage(workspace, directory, changes = {}) {
  for (const name of [...NEEDED, ...FURTHER]) {
    const from = join(root, workspace, name);
    // A package without code would be packed, too: the copy of a missing folder fails.
    if (NEEDED.includes(name) || existsSync(from)) cpSync(from, join(directory, name), { recursive: true });
  }
  for (const name of SHARED) cpSync(join(root, name), join(directory, name));
  const { version, repository } = readManifest(root);
  const { private: _, devDependencies: __, dependencies, ...manifest } = readManifest(directory);
  const pinned = Object.entries(dependencies ?? {}).map(([name, range]) => [
    name,
    Object.hasOwn(BUNDLED, name) ? version : range,
  ]);
  const staged = {
    ...manifest,
    version,
    // The owner of a shop names it in the manifest of the project.
    ...(repository && { repository: { ...repository, directory: workspace } }),
    files: [...manifest.files, ...SHARED],
    ...(dependencies && { dependencies: Object.fromEntries(pinned) }),
    ...changes,
  };
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(staged, null, 2)}\n`);
  return directory;
}

function stageCommand(directory) {
  stage('cli', directory, { bundleDependencies: Object.keys(BUNDLED) });
  const own = readManifest(directory).dependencies;
  for (const [name, workspace] of Object.entries(BUNDLED)) {
    for (const [needed, range] of Object.entries(readManifest(join(root, workspace)).dependencies ?? {}))
      if (!Object.hasOwn(BUNDLED, needed) && own[needed] !== range)
        throw new Error(`${name} needs ${needed} ${range}: the command must need it as well`);
    // npm 11 installs nothing into the directory of a package that a bundled package needs, if the installation is global.
    stage(workspace, join(directory, 'node_modules', name), { dependencies: undefined });
  }
  return directory;
}

/** Packs a directory as a file with this name. Returns its entry in the index. */
async function pack(work, name, directory) {
  // A start that builds nothing does not load them.
  const [{ spawnSync }, { createHash }] = await Promise.all([
    import('node:child_process'),
    import('node:crypto'),
  ]);
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

function readManifest(directory) {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
}
