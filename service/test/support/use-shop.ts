import { after, before } from 'node:test';
import { startTestApp, type TestApp } from './test-app.ts';

/**
 * Starts one service for all cases of the file, or of the `describe` that calls this, and stops it after them. The leak
 * check runs once, at the end. The cases share one store and one clock: each creates what it needs with `shop.clientWith`,
 * `aCategory`, `aPet` and `anOrder`, and assumes neither certain IDs nor that a list contains nothing else. A case about
 * whole lists, the clock or settings starts a service of its own.
 *
 * The result has no properties until the first case runs: read them in the cases. `fill` creates what several cases need:
 * another `before` at the top of a file would not wait for this one.
 */
export function useShop(
  options?: Parameters<typeof startTestApp>[1],
  fill?: (shop: TestApp) => Promise<unknown>,
): Readonly<TestApp> {
  const shop = {} as TestApp;
  const releases: (() => Promise<void>)[] = [];
  before(async () => {
    const release = { after: (stop: () => Promise<void>) => void releases.push(stop) };
    Object.assign(shop, await startTestApp(release, options));
    await fill?.(shop);
  });
  after(async () => {
    for (const stop of releases) await stop();
  });
  return shop;
}
