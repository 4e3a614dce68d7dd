import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Contract } from './contract.ts';
import type { Portal } from './portal.ts';

/** Code that makes each grammar compile its rules. */
const WARM_UP = `{ "name": ['a', "b", 1.5, true], /* c */ f(x): $y } # // curl -H 'x' | <?php class A { function b() {} }\n`;

/**
 * Loads the portal and opens it for a contract, in several turns of the event loop: as one it would block it for a tenth of a
 * second. `port` is that of this service on this machine.
 */
export async function openPortal(document: Contract, port: number | undefined): Promise<Portal> {
  const { grammarNames, highlighted } = await import('../../../web/portal/highlight.js');
  await nextTurn();
  // The first use of a grammar compiles it.
  for (const name of grammarNames) {
    highlighted(WARM_UP, name);
    await nextTurn();
  }
  await import('./markdown.ts');
  await nextTurn();
  await import('./documents.ts');
  await nextTurn();
  const { Assets } = await import('./assets.ts');
  const { Portal } = await import('./portal.ts');
  // Without a public URL, samples have the address of this machine; the page replaces it with the address from which it came.
  const [{ url } = { url: '/' }] = document.servers;
  return Portal.open(document, url === '/' ? `http://127.0.0.1:${port}` : url, new Assets());
}
