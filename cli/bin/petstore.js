#!/usr/bin/env node
import { existsSync } from 'node:fs';
import * as module from 'node:module';

// Node.js 22 and newer start faster with the code that they compiled earlier.
module.enableCompileCache?.();
// Only a clone has the sources: they may have changed since the last build.
const build = new URL('../../scripts/build-command.mjs', import.meta.url);
if (existsSync(new URL('../src', import.meta.url))) await import(build);
await import('../dist/main.js');
