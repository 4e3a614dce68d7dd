import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { useBrowser } from '../support/browser.ts';
import { buildConsole } from '../support/console-page.ts';
import { openScene, scenes } from '../support/console-scenes.ts';

const visit = useBrowser();
before(buildConsole);

/** Runs in every document before its own scripts. Records what moves without an action of the user. */
const observeShifts = `
  globalThis.shifts = [];
  new PerformanceObserver(list => {
    const box = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(' ');
    for (const { hadRecentInput, value, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      const moved = sources.map(({ node, previousRect, currentRect }) =>
        (node?.parentElement?.outerHTML.slice(0, 150) ?? 'a removed element') + ' from ' + box(previousRect) + ' to ' + box(currentRect));
      shifts.push(value + ': ' + moved.join(', '));
    }
  }).observe({ type: 'layout-shift', buffered: true });`;

/** Resolves when the page has been drawn as it is now, and what moved has been reported. */
const drawn = (page: Page) =>
  page.evaluate(
    `new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))`,
  );

/** The pages and panels that have an address. */
const addresses = [
  'today',
  'animals',
  'animals: one',
  'orders',
  'orders: one',
  'stock',
  'categories',
  'categories: one',
  'import',
  'activity',
  'webhooks',
  'webhooks: one',
  'webhooks: deliveries',
  'keys',
  'keys: one',
];

let isObserved = false;

describe('nothing moves while the data of a page arrive,', () => {
  for (const [screen, viewport] of Object.entries({
    'a desktop': { width: 1280, height: 900 },
    'a phone': { width: 390, height: 844 },
  })) {
    for (const name of addresses) {
      it(`on ${screen}: ${name}`, async t => {
        const visited = await visit(t);
        const { page, context } = visited;
        if (!isObserved) await page.addInitScript(observeShifts);
        isObserved = true;
        await page.setViewportSize(viewport);
        const shown = await openScene(visited, name);
        const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
        await context.route(/\/(pets|store|categories|events|webhooks|keys)\b/, async (route, request) => {
          if (!request.url().includes('/console/')) await isReleased;
          await route.continue();
        });
        await page.reload();
        await page.getByRole('navigation').waitFor();
        await drawn(page);
        release();
        await scenes[name]!.show(shown);
        await drawn(page);
        assert.deepEqual(await page.evaluate('shifts'), []);
      });
    }
  }
});
