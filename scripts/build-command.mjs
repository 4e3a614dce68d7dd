// Builds the client, the rules of files with pets, and the command, unless they are newer than their sources. Runs on Node.js 18 or newer.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const settings = join(root, 'tsconfig.json');

/** A file that each workspace builds, in this order: each is compiled against the types that those before it have built. */
const results = { sdk: 'dist/index.js', 'pet-files': 'dist/index.js', cli: 'dist/main.js' };

let isOutdated = false;
for (const [name, result] of Object.entries(results)) {
  const workspace = join(root, name);
  const sources = [settings, join(workspace, 'tsconfig.json'), ...filesBelow(join(workspace, 'src'))];
  isOutdated ||= changedAt(join(workspace, result)) < Math.max(...sources.map(changedAt));
  if (!isOutdated) continue;
  const { status, stdout, error } = spawnSync(
    process.execPath,
    [compiler, '--project', workspace, '--noEmitOnError'],
    { encoding: 'utf8' },
  );
  if (status === 0) continue;
  process.stderr.write(`${error?.message ?? stdout}\nThe command could not be built: see above\n`);
  process.exit(1);
}

/** Returns when a file was changed last; 0 if it does not exist. */
function changedAt(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function filesBelow(directory) {
  return readdirSync(directory, { withFileTypes: true }).flatMap(entry => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}
