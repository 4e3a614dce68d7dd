import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { assertAccessible } from '../support/axe-check.ts';
import { useBrowser } from '../support/browser.ts';
import { buildConsole } from '../support/console-page.ts';
import { openScene, scenes } from '../support/console-scenes.ts';

const visit = useBrowser();
before(buildConsole);

/** The menus and dialogs that a side of the screen cuts off: they do not make the page wider. */
const cutOff = `Array.from(document.querySelectorAll('dialog[open], :popover-open'))
  .filter(element => {
    const { left, right } = element.getBoundingClientRect();
    return left < 0 || right > innerWidth;
  })
  .map(({ className }) => className)`;

describe('axe finds nothing serious, on a desktop or a phone, in light or dark colours', () => {
  for (const name of Object.keys(scenes)) {
    it(name, async t => {
      const visited = await visit(t);
      // The empty name.
      if (name === 'animals: rejected') visited.watch.expect(/status of 400/);
      await openScene(visited, name);
      await assertAccessible(visited.page);
      // The page now has the size of a phone. If it were wider than the screen, phones would move the buttons of panels off it.
      assert.equal(await visited.page.evaluate('document.documentElement.scrollWidth'), 390);
      assert.deepEqual(await visited.page.evaluate(cutOff), []);
    });
  }

  it('the form to sign in', async t => {
    const { page } = await visit(t);
    await page.goto('/console');
    await page.getByLabel('API key').waitFor();
    await assertAccessible(page);
  });
});
