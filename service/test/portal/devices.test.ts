import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { documentedOperations } from '../contract/document.ts';
import { eventually, useBrowser } from '../support/browser.ts';
import { PortalPage } from '../support/portal-page.ts';

const visit = useBrowser();
const visitByPhone = useBrowser({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });

function operation(operationId: string) {
  return documentedOperations.find(listed => listed.operation.operationId === operationId)!.operation;
}

/** Compares the painted colours: dark has a darker background than text, light a lighter one. */
async function themeOf(page: Page): Promise<'dark' | 'light'> {
  const { background, text } = await page.locator('body').evaluate(body => {
    const { backgroundColor, color } = body.ownerDocument.defaultView.getComputedStyle(body);
    return { background: backgroundColor as string, text: color as string };
  });
  const brightness = (colour: string) =>
    colour
      .match(/\d+/g)!
      .slice(0, 3)
      .reduce((sum, part) => sum + Number(part), 0);
  return brightness(background) < brightness(text) ? 'dark' : 'light';
}

/** How many pixels the page is wider than the screen. */
function overflow(page: Page): Promise<number> {
  return page.evaluate('document.scrollingElement.scrollWidth - innerWidth');
}

describe('the theme', () => {
  it('is that of the system, even after it changes', async t => {
    const { page } = await visit(t);
    await page.emulateMedia({ colorScheme: 'dark' });
    for (const path of ['/docs', '/docs/guide']) {
      await page.goto(path);
      for (const colorScheme of ['dark', 'light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await eventually(() => themeOf(page), colorScheme, path);
      }
    }
  });

  it('that the reader chose stays after a reload and on every page, even if the system changes', async t => {
    const { page } = await visit(t);
    const portal = await new PortalPage(page).open();
    await page.locator('#theme').click();
    await eventually(() => themeOf(page), 'dark');
    await portal.reload();
    assert.equal(await themeOf(page), 'dark');
    await page.goto('/docs/guide');
    assert.equal(await themeOf(page), 'dark');
    await page.locator('#theme').click();
    await eventually(() => themeOf(page), 'light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.reload();
    assert.equal(await themeOf(page), 'light');
  });
});

describe('on a phone', () => {
  it('no page is wider than the screen', async t => {
    const { page, shop } = await visitByPhone(t);
    const portal = await new PortalPage(page).open();
    assert.equal(await overflow(page), 0, 'the list');
    await portal.useKey(shop.adminKey);
    for (const { operationId, tags } of [operation('createApiKey'), operation('listPets')]) {
      await portal.open(`#/${encodeURIComponent(tags[0]!)}/${operationId}`);
      const shown = portal.operation(operation(operationId));
      await shown.locator('[data-samples]').waitFor();
      await portal.unfold(shown);
      await shown.locator('[data-code="429"] .headers').waitFor();
      assert.equal(await overflow(page), 0, operationId);
    }
    await portal.operation(operation('listPets')).locator('.try-out__btn').click();
    await portal.execute(operation('listPets'));
    assert.equal(await overflow(page), 0, 'a response');
    await page.goto('/docs/guide');
    assert.equal(await overflow(page), 0, 'the guide');
  });

  it('the key, the search and the menu of operations can be reached', async t => {
    const { page } = await visitByPhone(t);
    const portal = await new PortalPage(page).open();
    const entry = portal.entry(operation('rotateApiKey'));
    const button = page.getByRole('button', { name: /menu/i });
    assert.equal(await entry.isVisible(), false);
    await button.tap();
    assert.equal(await button.getAttribute('aria-expanded'), 'true');
    await entry.tap();
    await portal.operation(operation('rotateApiKey')).locator('[data-samples]').waitFor();
    await eventually(() => entry.isVisible(), false, 'the menu closes');
    await eventually(async () => {
      const { y = -1 } = (await portal.operation(operation('rotateApiKey')).boundingBox()) ?? {};
      return y >= 0 && y < 450;
    }, true);

    for (const control of ['#search', '#api-key', '#api-key-forget', '#theme']) {
      const { x, width } = (await page.locator(control).boundingBox())!;
      assert.ok(x >= 0 && x + width <= 390, control);
    }
    await page.locator('#search').fill('cancelOrder');
    const found = page.locator('.opblock[id^="operations-"]').filter({ visible: true });
    await eventually(() => found.count(), 1);
  });
});

describe('with only a keyboard', () => {
  /** Presses Tab until the focused element matches a selector. Fails if the focus is invisible on the way. */
  async function tabTo(page: Page, selector: string, atMost: number): Promise<void> {
    for (let i = 0; i < atMost; i++) {
      await page.keyboard.press('Tab');
      const focus = page.locator(':focus');
      if ((await focus.count()) === 0) continue;
      const { matches, outlined } = await focus.evaluate((element, wanted) => {
        const { outlineStyle, outlineWidth, boxShadow } =
          element.ownerDocument.defaultView.getComputedStyle(element);
        return {
          matches: element.matches(wanted) as boolean,
          outlined: (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none',
        };
      }, selector);
      assert.ok(
        outlined,
        `the focus cannot be seen on ${await focus.evaluate(element => element.outerHTML)}`,
      );
      if (matches) return;
    }
    assert.fail(`${atMost} tabs do not lead to ${selector}`);
  }

  it('a reader finds an operation, opens it, tries it out and reads its response', async t => {
    const { page, shop } = await visit(t);
    const portal = await new PortalPage(page).open();
    await tabTo(page, 'a[href="#content"]', 1);
    await tabTo(page, '#api-key', 8);
    await page.keyboard.type(shop.adminKey);
    await tabTo(page, '#search', 8);
    await tabTo(page, 'nav[aria-label="Operations"] a[data-operation="listPets"]', 4);
    await tabTo(page, 'a[data-operation="listCategories"]', 10);
    await page.keyboard.press('Enter');
    const shown = portal.operation(operation('listCategories'));
    await shown.locator('[data-samples]').waitFor();
    const id = await shown.getAttribute('id');
    await tabTo(page, `[id="${id}"] .try-out__btn`, 60);
    await page.keyboard.press('Enter');
    await shown.locator('.execute').waitFor();
    await tabTo(page, `[id="${id}"] .execute`, 60);
    await page.keyboard.press('Enter');
    const status = shown.locator('.live-response .response-col_status');
    assert.equal(await status.textContent(), '200');
  });

  it('the skip link leads past the navigation', async t => {
    const { page } = await visit(t);
    await new PortalPage(page).open();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('main:focus').waitFor();
    await tabTo(page, 'main a, main button', 1);
  });
});
