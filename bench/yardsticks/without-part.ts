/** Preloaded into a service, it removes the part that `BENCH_WITHOUT` names: events of changes, their seals, or the words of pets. */
import { registerHooks } from 'node:module';

const parts: Record<string, [file: string, statement: string]> = {
  'event log': ['/events/event-log/event-kind.ts', '    tx.append('],
  seals: ['/db/sqlite.ts', 'this.#seals.add('],
  search: ['/catalog/pets/pets.ts', 'await setPetWords('],
};
const [file, statement] = parts[process.env.BENCH_WITHOUT!]!;

registerHooks({
  load(url, context, nextLoad) {
    const module = nextLoad(url, context);
    if (!url.endsWith(file)) return module;
    const source = String(module.source);
    if (!source.includes(statement)) throw new Error(`${file} has no ${statement}`);
    return { ...module, source: source.replaceAll(statement, `if (false) ${statement.trim()}`) };
  },
});
