/** Preloaded into a service, it takes the log of events out: changes are made, and nothing is appended. */
import { registerHooks } from 'node:module';

registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith('/events/event-log/append.ts')) return nextLoad(url, context);
    return { format: 'module', source: 'export function appendEvent() {}', shortCircuit: true };
  },
});
