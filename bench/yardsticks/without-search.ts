/** Preloaded into a service, it stores no words of pets, as before search. */
import { registerHooks } from 'node:module';

const STORE = 'await setPetWords(';

registerHooks({
  load(url, context, nextLoad) {
    const module = nextLoad(url, context);
    if (!url.endsWith('/catalog/pets/pets.ts')) return module;
    const source = String(module.source);
    if (!source.includes(STORE)) throw new Error('The statement that stores words has changed');
    return { ...module, source: source.replaceAll(STORE, `if (false) ${STORE}`) };
  },
});
