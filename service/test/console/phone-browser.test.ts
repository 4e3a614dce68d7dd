import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertAccessible } from '../support/axe-check.ts';
import { useConsole } from '../support/console-page.ts';
import { aPet } from '../support/factories.ts';

const phone = { width: 390, height: 844 };
const visit = useConsole({ viewport: phone, hasTouch: true });

/** The smallest side of a target for a finger, in pixels. */
const FINGER = 44;

/** The names of the visible controls that are smaller. A link in a text and a box in a label or a cell have the room around them. */
const smallTargets = `[...document.querySelectorAll('a, button, select, input, textarea')]
  .filter(control => control.checkVisibility({ visibilityProperty: true }) && !control.matches('.skip-link, p a, li a, p button'))
  .map(control => (control.closest('label, [data-column="selection"]') ?? control))
  .filter(target => {
    const { width, height } = target.getBoundingClientRect();
    return Math.round(width) < ${FINGER} || Math.round(height) < ${FINGER};
  })
  .map(target => target.outerHTML.slice(0, 120))`;

describe('on a phone', () => {
  it('four pages are in the bar, and the others behind "More"', async t => {
    const { page, open } = await visit(t);
    await open('/animals');
    const bar = page.getByRole('navigation');
    const texts = async () => (await bar.getByRole('link').allInnerTexts()).map(text => text.trim());
    assert.deepEqual(await texts(), ['Today', 'Animals', 'Orders', 'Stock']);
    const more = bar.getByRole('button', { name: 'More' });
    await more.tap();
    await assertAccessible(page, 'a phone');
    await bar.getByRole('link', { name: 'Categories' }).tap();
    await page.getByRole('heading', { name: 'Categories', level: 1 }).waitFor();
    await bar.getByRole('link', { name: 'Categories' }).waitFor({ state: 'hidden' });
    assert.equal(await more.getAttribute('aria-current'), 'true');
    await bar.getByRole('link', { name: 'Animals' }).tap();
    await page.getByRole('heading', { name: 'Animals', level: 1 }).waitFor();
    assert.equal(await more.getAttribute('aria-current'), null);
  });

  it('a key with few pages has them all in the bar', async t => {
    const { shop, open } = await visit(t);
    const { key } = await shop.clientWith({ scopes: ['pets:read', 'orders:read'] });
    const shown = await open('/animals', key);
    assert.equal(await shown.page.getByRole('navigation').getByRole('button').count(), 0);
    assert.equal(await shown.page.getByRole('navigation').getByRole('link').count(), 4);
  });

  it('the main action and the buttons of a panel are in the lower half, and all targets are large enough', async t => {
    const { api, page, open } = await visit(t);
    await aPet(api, { name: 'Reachable' });
    const shown = await open('/animals');
    const isLow = async (name: string, scope: typeof shown.panel | typeof page) => {
      const box = await scope
        .getByRole('link', { name })
        .or(scope.getByRole('button', { name, exact: true }))
        .last()
        .boundingBox();
      assert.ok(
        box && box.y > phone.height / 2 && box.y + box.height <= phone.height,
        `${name} at ${box?.y}`,
      );
    };
    await shown.row('Reachable').waitFor();
    await isLow('Add animal', page);
    assert.deepEqual(await page.evaluate(smallTargets), []);
    await page.getByRole('link', { name: 'Add animal' }).tap();
    await shown.panel.waitFor();
    await isLow('Add', shown.panel);
    assert.deepEqual(await page.evaluate(smallTargets), []);
    await page.keyboard.press('Escape');
    const small: Record<string, unknown> = {};
    for (const path of [
      '/',
      '/orders',
      '/stock',
      '/categories',
      '/import',
      '/activity',
      '/webhooks',
      '/keys',
    ]) {
      await page.goto(`/console${path}`);
      await page.locator('h1').waitFor();
      await shown.live();
      small[path] = await page.evaluate(smallTargets);
    }
    assert.deepEqual(Object.values(small).flat(), []);
  });
});
