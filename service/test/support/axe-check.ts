import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { eventually } from './browser.ts';
import { isLong } from './long.ts';

export const screens = {
  'a desktop': { width: 1280, height: 900 },
  'a phone': { width: 390, height: 844 },
};

const appearances = Object.entries(screens).flatMap(([screen, viewport]) =>
  (['light', 'dark'] as const).map(colorScheme => ({ screen, viewport, colorScheme })),
);

/** Minified, because each check sends it to the browser, which parses it again: 0.65 MB instead of 1.5 MB. */
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Light and dark differ only in colours. */
const colours = ['color-contrast', 'link-in-text-block'];

/** The rules that axe runs by default, without those whose findings are never grave: they take half of the time. */
const graveRules = `axe._audit.rules
  .filter(({ enabled, impact, tags }) => enabled && !tags.includes('experimental') && /^(serious|critical)$/.test(impact))
  .map(({ id }) => id)`;

/** How many pages were checked. */
let next = 0;

/**
 * Fails if axe finds something serious in what a page shows, on a desktop or a phone, in light or dark colours: in one of these four
 * appearances, a different one with each call, and with `npm run test:long` in all of them. Content that only one
 * screen has is checked on that one.
 */
export async function assertAccessible(page: Page, only?: keyof typeof screens): Promise<void> {
  // The page's CSP does not bind the debugger.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe);
  const possible = appearances.filter(({ screen }) => only === undefined || screen === only);
  const chosen = isLong ? possible : [possible[next++ % possible.length]!];
  for (const { screen, viewport, colorScheme } of chosen) {
    await page.setViewportSize(viewport);
    await eventually(() => page.evaluate('[innerWidth, innerHeight]'), Object.values(viewport));
    await page.emulateMedia({ colorScheme });
    // Without CSS selectors, which no message shows and which take a quarter of the time.
    const rules = isLong && colorScheme === 'dark' ? JSON.stringify(colours) : graveRules;
    const options = `{ resultTypes: ['violations'], selectors: false, runOnly: ${rules} }`;
    const { violations } = (await page.evaluate(`axe.run(document, ${options})`)) as AxeResults;
    const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    const shownAs = grave.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
    );
    assert.deepEqual(shownAs, [], `${screen}, ${colorScheme}`);
  }
}
