// Installs what is missing before `npm start` and `npm test`. Runs on the machine's own Node.js, 18 or newer: the
// pinned one that everything else runs on is among the packages it installs.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'node_modules', '.petstore-setup');
const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  install();
  rejectWithoutRuntime();
  writeFileSync(stamp, wanted);
}

function install() {
  process.stderr.write('Installing packages (once; about half a minute) …\n');
  const { status, stdout, stderr, error } = spawnSync(
    'npm',
    ['ci', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  if (status === 0) return;
  process.stderr.write(`${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}\n`);
  process.stderr.write('npm ci failed: see above. Is the npm registry reachable?\n');
  process.exit(1);
}

function rejectWithoutRuntime() {
  const node = join(root, 'node_modules', '.bin', 'node');
  const { status, error } = spawnSync(node, ['--version']);
  if (status === 0) return;
  const platform = `${process.platform}-${process.arch}`;
  process.stderr.write(
    `The pinned Node.js 24 is not there for ${platform} (${error?.message ?? `exit code ${status}`}). ` +
      'It comes for Linux and macOS on x64 and arm64; npm must install optional packages (no --omit=optional).\n',
  );
  process.exit(1);
}
