import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Contract } from './contract.ts';
import { readGuide } from './guide.ts';
import type { Portal } from './portal.ts';

/**
 * Loads the portal and opens it for a contract, in several turns of the event loop: as one it would block it for a tenth of a
 * second. `port` is that of this service on this machine, and `isDemo` whether it runs with the demo shop.
 */
export async function openPortal(
  document: Contract,
  { port, isDemo }: { port: number | undefined; isDemo: boolean },
): Promise<Portal> {
  const { highlighted } = await import('../../../web/portal/highlight.js');
  await nextTurn();
  const { languages, sample } = await import('../../../web/portal/samples.js');
  await nextTurn();
  const { callOf, exampleValues } = await import('./call.ts');
  const { ContractView } = await import('./contract.ts');
  await nextTurn();
  const { rendered } = await import('./markdown.ts');
  await nextTurn();
  await import('./documents.ts');
  await nextTurn();
  const { Assets } = await import('./assets.ts');
  const { Portal } = await import('./portal.ts');
  await nextTurn();
  // Without a public URL, samples have the address of this machine; the page replaces it with the address from which it came.
  const { url } = document.servers.find(server => !server.variables)!;
  const base = url === '/' ? `http://127.0.0.1:${port}` : url;
  const view = new ContractView(document);
  await nextTurn();
  // The first code in a language compiles its grammar, which takes longer than the page that needs it.
  for (const operation of view.operations.filter(({ body }) => body).slice(0, 2)) {
    for (const [language, { grammar }] of Object.entries(languages)) {
      highlighted(sample(language, callOf(view, operation), exampleValues(operation), base), grammar);
      await nextTurn();
    }
    highlighted(JSON.stringify(operation.body?.media.example), 'json');
    rendered(operation.description);
    await nextTurn();
  }
  const assets = new Assets();
  const files = {
    mark: await assets.open('../identity/mark.svg'),
    tokens: await assets.open('../identity/tokens.css'),
    stylesheet: await assets.open('./portal.css'),
    head: await assets.open('./head.js'),
    page: await assets.open('./page.js'),
    form: await assets.open('./try-it.js'),
  };
  const guide = await readGuide(base);
  await nextTurn();
  return new Portal({ view, guide, base, isDemo, files }, assets);
}
