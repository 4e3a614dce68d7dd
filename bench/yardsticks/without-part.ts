/**
 * Preloaded into a service, it removes the part that `BENCH_WITHOUT` names: events of changes, their seals, or the words of pets. It
 * removes nothing from the service that is compared: without the compile cache, which a hook switches off, a service is faster.
 */
import { registerHooks } from 'node:module';

const parts: Record<string, readonly (readonly [file: string, code: string, instead?: string])[]> = {
  nothing: [],
  'event log': [['/events/event-log/event-kind.ts', 'tx.append(']],
  seals: [
    ['/db/sqlite.ts', 'this.#seals.add('],
    ['/db/event-seals.ts', 'HAVING count(*) > 0', 'HAVING false'],
  ],
  search: [['/catalog/pets/pets.ts', 'await setPetWords(']],
};
const removed = parts[process.env.BENCH_WITHOUT!]!;

registerHooks({
  load(url, context, nextLoad) {
    const module = nextLoad(url, context);
    const found = removed.find(([file]) => url.endsWith(file));
    if (!found) return module;
    const [file, code, instead = `false && ${code}`] = found;
    const source = String(module.source);
    if (!source.includes(code)) throw new Error(`${file} has no ${code}`);
    return { ...module, source: source.replaceAll(code, instead) };
  },
});
