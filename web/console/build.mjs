// Builds the console into its folder `dist`, compressed, unless it is newer than its sources. Runs on Node.js 20 or newer.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const workspace = dirname(fileURLToPath(import.meta.url));
const root = join(workspace, '../..');
const result = join(workspace, 'dist');

/** All that the result depends on. The lock file has the versions of the packages. */
const sources = [
  join(root, 'package-lock.json'),
  fileURLToPath(import.meta.url),
  join(root, 'sdk/src'),
  join(root, 'pet-files/src'),
  ...['src', 'index.html', 'vite.config.ts', 'package.json'].map(name => join(workspace, name)),
];

if (builtAt() < Math.max(...sources.flatMap(filesAt).map(changedAt))) {
  process.stderr.write('Building the console …\n');
  // A service or another build may read or write the result at the same time, so it appears as a whole.
  const unfinished = `${result}.${process.pid}`;
  const { build } = await import('vite');
  try {
    await build({
      configFile: join(workspace, 'vite.config.ts'),
      logLevel: 'error',
      build: { outDir: unfinished },
    });
    for (const file of filesAt(unfinished)) compress(file);
    replace(unfinished);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** Writes a file in the encodings of HTTP, so that the service never has to. */
function compress(file) {
  const bytes = readFileSync(file);
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
}

function replace(unfinished) {
  const old = `${unfinished}.old`;
  if (existsSync(result)) renameSync(result, old);
  renameSync(unfinished, result);
  rmSync(old, { recursive: true, force: true });
}

/** Returns when the result was written; 0 if it does not exist. */
function builtAt() {
  return statSync(join(result, 'index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Returns when a file got its content or its name. A file of an archive keeps an earlier time of modification. */
function changedAt(file) {
  return statSync(file).ctimeMs;
}

function filesAt(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).flatMap(name => filesAt(join(path, name)));
}
