// Builds the console into its folder `dist`, compressed, unless it is newer than its sources. Runs on Node.js 20 or newer.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { filesAt, isOutdated, replace } from '../../scripts/outdated.mjs';

const workspace = dirname(fileURLToPath(import.meta.url));
const root = join(workspace, '../..');
const result = join(workspace, 'dist');

/** All that the result depends on. The lock file has the versions of the packages. */
const sources = [
  join(root, 'package-lock.json'),
  fileURLToPath(import.meta.url),
  join(root, 'sdk/src'),
  join(root, 'pet-files/src'),
  join(root, 'web/identity'),
  ...['src', 'index.html', 'vite.config.ts', 'package.json'].map(name => join(workspace, name)),
];

if (isOutdated(join(result, 'index.html'), sources)) {
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
    // A font is compressed already.
    for (const file of filesAt(unfinished)) if (!file.endsWith('.woff2')) compress(file);
    replace(result, unfinished);
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
