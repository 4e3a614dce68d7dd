import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/browser.ts';
import { ConsolePage, useConsole } from '../support/console-page.ts';
import { anOrder, aPet } from '../support/factories.ts';

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

  it('decide the time zone of days and times in fields', async t => {
    const { api, page, open } = await visit(t);
    const orderId = await anOrder(api, {});
    const shown = await open(`/orders/${orderId}`);
    await shown.field('Ships').fill('2090-03-04T10:30');
    await shown.save();
    await shown.panel.waitFor({ state: 'detached' });
    assert.equal((await api.get(`/store/orders/${orderId}`)).body.shipDate, '2090-03-04T05:00:00.000Z');
    await shown.go(`/orders/${orderId}`);
    assert.equal(await shown.field('Ships').inputValue(), '2090-03-04T10:30');

    await shown.go('/keys/new');
    await shown.field('Name').fill('Expiring');
    await shown.panel.getByLabel(/^Expires/).fill('2090-03-04T10:30');
    await shown.panel.getByRole('button', { name: 'Create' }).click();
    await shown.panel.getByText('It cannot be shown again').waitFor();
    const [key] = (await api.get('/keys?name=Expiring')).body;
    assert.equal(key.expiresAt, '2090-03-04T05:00:00.000Z');
    await shown.panel.locator('.panel-footer').getByRole('button', { name: 'Close' }).click();
    await shown.question.getByRole('button', { name: 'Close without copying' }).click();

    const { body: webhook } = await api.post('/webhooks', { url: 'http://localhost:9000/x' });
    await shown.go(`/webhooks/${webhook.id}`);
    await shown.panel.getByRole('button', { name: 'Replay' }).click();
    await shown.question.getByLabel('Since').fill('2090-03-04T10:30');
    const read = page.waitForRequest(/\/events\?from=/);
    await shown.question.getByRole('button', { name: 'Replay', exact: true }).click();
    assert.equal(new URL((await read).url()).searchParams.get('from'), '2090-03-04T05:00:00.000Z');
    await shown.question.getByText('There are no events since then').waitFor();

    await shown.go('/activity');
    await page.getByLabel('From').fill('2090-03-04');
    const from = async () => new URL(page.url()).searchParams.get('from');
    await eventually(from, '2090-03-03T18:30:00.000Z');
    await page.reload();
    await eventually(() => page.getByLabel('From').inputValue(), '2090-03-04');
  });

  it('decide the time zone in which an order ships today', async t => {
    const { api, page, shop, open } = await visit(t);
    shop.clock.set('2027-01-01T01:00:00Z');
    await page.clock.setFixedTime('2027-01-01T01:00:00Z');
    const petId = await aPet(api, { name: 'Nightly' });
    await anOrder(api, { petId, shipDate: '2026-12-31T19:00:00Z' });
    const shown = await open(`/orders?petId=${petId}`);
    await shown.row('Nightly').getByText('today', { exact: true }).waitFor();
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
