/**
 * Preloaded into a service, it removes the part that `BENCH_WITHOUT` names: events of changes, their seals, or the words of pets. It
 * removes nothing from the service that is compared: without the compile cache, which a hook switches off, a service is faster.
 */
import { registerHooks } from 'node:module';

const parts: Record<string, readonly (readonly [file: string, call: string])[]> = {
  nothing: [],
  'event log': [['/events/event-log/event-kind.ts', 'tx.append(']],
  seals: [
    ['/db/sqlite.ts', 'this.#seals.add('],
    ['/db/postgres-relay.ts', 'tx.run(SEAL_ON_POSTGRES'],
  ],
  search: [['/catalog/pets/pets.ts', 'await setPetWords(']],
};
const removed = parts[process.env.BENCH_WITHOUT!]!;

registerHooks({
  load(url, context, nextLoad) {
    const module = nextLoad(url, context);
    const found = removed.find(([file]) => url.endsWith(file));
    if (!found) return module;
    const [file, call] = found;
    const source = String(module.source);
    if (!source.includes(call)) throw new Error(`${file} has no ${call}`);
    return { ...module, source: source.replaceAll(call, `false && ${call}`) };
  },
});
