/**
 * Preloaded into a service, it can switch the part off that `BENCH_PART` names, and on again: events of changes, their seals, their old
 * values, or the words of pets. So one process is compared with itself: two processes of the same service differ by up to a fifth in CPU time.
 */
import { registerHooks } from 'node:module';

const parts: Record<string, readonly (readonly [file: string, code: string, switched?: string])[]> = {
  'event log': [['/events/event-log/event-kind.ts', 'tx.append(']],
  seals: [
    ['/db/sqlite.ts', 'this.#seals.add('],
    [
      '/db/postgres-relay.ts',
      '(tx, RELAY,',
      "(tx, globalThis.isPartOff ? RELAY.replace('HAVING count(*) > 0', 'HAVING false') : RELAY,",
    ],
  ],
  'old values': [
    [
      '/events/event-log/event-kind.ts',
      'before === undefined',
      '(globalThis.isPartOff || before === undefined)',
    ],
  ],
  search: [['/catalog/pets/pets.ts', 'await setPetWords(']],
};
const switched = parts[process.env.BENCH_PART!]!;

registerHooks({
  load(url, context, nextLoad) {
    const module = nextLoad(url, context);
    const found = switched.find(([file]) => url.endsWith(file));
    if (!found) return module;
    const [file, code, instead = `!globalThis.isPartOff && ${code}`] = found;
    const source = String(module.source);
    if (!source.includes(code)) throw new Error(`${file} has no ${code}`);
    return { ...module, source: source.replaceAll(code, instead) };
  },
});

/** Switches the part, and confirms it. */
process.on('message', (state: 'on' | 'off') => {
  Object.assign(globalThis, { isPartOff: state === 'off' });
  process.send?.(state);
});
process.channel?.unref();
