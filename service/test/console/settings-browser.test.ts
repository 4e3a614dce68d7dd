import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/browser.ts';
import { ConsolePage, useConsole } from '../support/console-page.ts';
import { aPet } from '../support/factories.ts';

const visit = useConsole({ timezoneId: 'Asia/Kolkata', locale: 'en-GB' });

it('the requests that a key has left are shown only when they are less than a quarter', async t => {
  const { page, shop, open } = await visit(t);
  const shown = await open('/animals');
  await shown.row(/./).or(page.getByText('No animals yet')).first().waitFor();
  assert.equal(await page.getByRole('meter').count(), 0);
  const { key } = await shop.clientWith({
    plan: 'enterprise',
    quotas: { perMinute: 10, perDay: 1_000 },
    scopes: ['pets:read'],
  });
  await shown.button(/^Account/).click();
  await page.getByRole('menuitem', { name: /^Sign out/ }).click();
  await shown.signIn(key);
  const meter = page.getByRole('meter', { name: /^[01] of 10 requests left this minute$|^2 of 10/ });
  for (let i = 0; (await meter.count()) === 0 && i < 9; i++) {
    const found = page.waitForResponse(response => response.url().includes(`q=x${i}`));
    await page.getByRole('searchbox').fill(`x${i}`);
    await found;
  }
  await meter.waitFor();
});

describe('the settings of the device', () => {
  it('decide the colours while the theme is that of the system, and no longer after a choice', async t => {
    const { shop, page, context, open } = await visit(t);
    const shown = await open('/animals');
    const background = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    const light = await background();
    await page.emulateMedia({ colorScheme: 'dark' });
    const dark = await background();
    assert.notEqual(dark, light);
    const choose = async (name: string, tab = shown) => {
      await tab.button('Theme and rows').press('Enter');
      await tab.page.getByRole('menuitemradio', { name }).press('Enter');
    };
    await choose('Light');
    assert.equal(await background(), light);
    await choose('Same as the system');
    assert.equal(await background(), dark);
    await choose('Dark');
    await page.emulateMedia({ colorScheme: 'light' });
    assert.equal(await background(), dark);
    await page.reload();
    await shown.button('Theme and rows').waitFor();
    assert.equal(await background(), dark, 'the next visit keeps the choice');
    await choose('Same as the system');
    assert.equal(await background(), light);
    const other = await ConsolePage.openIn(await context.newPage(), '/animals', shop.adminKey);
    await choose('Dark', other);
    await eventually(background, dark);
  });

  it('are in a menu that has the focus as soon as it is open, so that it gets the next key', async t => {
    const { page, open } = await visit(t);
    await open('/animals');
    const focused = await page.evaluate(
      `document.querySelector('[aria-label="Theme and rows"]').click(); document.activeElement.textContent;`,
    );
    assert.equal(focused, 'Same as the system');
  });

  it('decide the time zone of dates, whose exact time is shown on hover', async t => {
    const { api, open } = await visit(t);
    const id = await aPet(api, { name: 'Dated' });
    const shown = await open(`/activity?subject=pets%2F${id}`);
    const time = shown.row('added Dated').locator('time');
    const at = new Date((await time.getAttribute('datetime'))!);
    const exact = at.toLocaleString('en-GB', {
      dateStyle: 'full',
      timeStyle: 'long',
      timeZone: 'Asia/Kolkata',
    });
    assert.equal(await time.getAttribute('title'), exact);
  });

  it('end all motion for users who do not want it', async t => {
    const { page, open } = await visit(t);
    const shown = await open('/animals');
    const motion = async () => {
      await page.getByRole('link', { name: 'Add animal' }).first().click();
      await shown.panel.waitFor();
      const name = await page.evaluate(
        "getComputedStyle(document.querySelector('dialog.panel')).animationName",
      );
      await page.keyboard.press('Escape');
      await shown.panel.waitFor({ state: 'detached' });
      return name;
    };
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    assert.equal(await motion(), 'slide-in');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    assert.equal(await motion(), 'none');
  });
});
