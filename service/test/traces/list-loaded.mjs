import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

// Writes the files that a process has loaded to LIST_LOADED when it ends, both CommonJS and ES modules.
const files = new Set();
registerHooks({
  load(url, context, nextLoad) {
    files.add(url);
    return nextLoad(url, context);
  },
});
process.on('exit', () => writeFileSync(process.env.LIST_LOADED, JSON.stringify([...files])));
