#!/usr/bin/env node
import { existsSync } from 'node:fs';

// Only a clone has the sources: they may have changed since the last build.
const build = new URL('../../scripts/build-command.mjs', import.meta.url);
if (existsSync(new URL('../src', import.meta.url))) await import(build);
await import('../dist/main.js');
