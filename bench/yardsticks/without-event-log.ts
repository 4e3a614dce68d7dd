/** Preloaded into a service, it removes the event log: changes append no events. */
import { registerHooks } from 'node:module';

const APPEND = '    tx.append(';

registerHooks({
  load(url, context, nextLoad) {
    const module = nextLoad(url, context);
    if (!url.endsWith('/events/event-log/event-kind.ts')) return module;
    const source = String(module.source);
    if (!source.includes(APPEND)) throw new Error('The statement that appends events has changed');
    return { ...module, source: source.replace(APPEND, '    if (false) tx.append(') };
  },
});
