#!/usr/bin/env node
import { existsSync } from 'node:fs';
import * as module from 'node:module';

// Node.js 22 and newer start faster with the code that they compiled earlier.
module.enableCompileCache?.();
// Only a clone has the sources: they may have changed since the last build.
const isClone = existsSync(new URL('../src', import.meta.url));
try {
  if (isClone) await import(new URL('../../scripts/build-command.mjs', import.meta.url));
  await import('../dist/main.js');
} catch (error) {
  if (!isClone || error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  process.stderr.write(
    `Error: ${error.message}: run \`npm run setup\` to install the packages of this clone\n`,
  );
  process.exitCode = 1;
}
