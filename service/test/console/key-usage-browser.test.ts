import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Locator } from 'playwright-core';
import { keyEvents } from '../../src/access/api-keys/key-events.ts';
import { upsertUsage } from '../../src/access/rate-limits/limit-queries.ts';
import { DAY, MINUTE } from '../../src/kit/clock.ts';
import { provokeBan, usedUp } from '../access/provoke-ban.ts';
import { eventually, stopClock } from '../support/browser.ts';
import { ConsolePage, useConsole } from '../support/console-page.ts';
import { appendMany } from '../support/many-events.ts';
import { assertFollowsTheme } from '../support/plot-colors.ts';

const visit = useConsole({ timezoneId: 'America/New_York' });

const phone = { width: 390, height: 844 };

describe('the usage of a key', () => {
  it('without a request says so', async t => {
    const { shop, open } = await visit(t);
    const { keyId } = await shop.clientWith({ plan: 'free', scopes: ['pets:read'] });
    const shown = await open(`/keys/${keyId}`);
    await shown.panel.getByText('The key sent no requests in this period').waitFor();
    await shown.panel
      .getByRole('img', { name: /0 admitted, 0 rejected, 0 bans, limit 1,000 a day/ })
      .waitFor();
    assert.equal(await shown.panel.getByText('As a table').count(), 0);
  });

  it('is read again every half minute while it is shown, and so is that of the own key', async t => {
    const { shop, openWithClock } = await visit(t);
    const quotas = { perMinute: 60, perDay: 1_000 };
    const client = await shop.clientWith({ plan: 'enterprise', scopes: ['admin'], quotas });
    const shown = await openWithClock(`/keys/${client.keyId}`, { key: client.key });
    const { page } = shown;
    /** The number in a text, such as `1,002 of 2,000 requests`. */
    const used = async (place: Locator) =>
      Number(/([\d,]+) of 1,000/.exec(await place.innerText())?.[1]?.replaceAll(',', ''));
    const followsIn = async (place: Locator) => {
      await place.waitFor();
      const before = await used(place);
      for (let i = 0; i < 10; i++) assert.equal((await client.get('/pets')).status, 200);
      await page.clock.fastForward(30_000);
      await eventually(async () => (await used(place)) >= before + 10, true);
    };
    await followsIn(shown.panel.getByText(/of 1,000 today/));
    const own = await ConsolePage.openIn(await page.context().newPage(), '/account', client.key);
    await followsIn(own.page.getByRole('region', { name: 'Limits' }).getByText(/of 1,000 requests/));
  });

  it('of 90 days is a plot with a sum, and a table of the days', async t => {
    const { shop, open } = await visit(t);
    const { keyId } = await shop.clientWith({ plan: 'free', scopes: ['pets:read'] });
    const today = Math.floor(shop.clock.now() / DAY);
    const days = Array.from({ length: 91 }, (_, i) => ({
      api_key_id: keyId,
      day: today - i,
      resets: 0,
      admitted: 10,
      rejected: i === 89 ? 5 : 0,
      earlier_admitted: 0,
      earlier_rejected: 0,
    }));
    await shop.app.db.write(tx => upsertUsage(tx, days));
    const shown = await open(`/keys/${keyId}`);
    // The earliest of the 91 days is not part of it, the one after it is.
    await shown.panel.getByRole('img', { name: /: 900 admitted, 5 rejected, 0 bans/ }).waitFor();
    assert.equal(await shown.panel.locator('.plot-date').first().innerText(), 'Aug 24');
    await shown.panel.getByText('Nov 21, 2026 (UTC): 10 admitted').waitFor();
    await shown.panel.getByText('As a table').click();
    const rows = shown.panel.getByRole('table').getByRole('row');
    // The header is a row as well.
    assert.equal(await rows.count(), 91);
    assert.deepEqual(await rows.nth(1).locator('th, td').allInnerTexts(), ['Nov 21, 2026', '10', '0', '0']);
    assert.deepEqual(await rows.last().locator('th, td').allInnerTexts(), ['Aug 24, 2026', '10', '5', '0']);
  });
});

describe('the keys of a list', () => {
  it('are listed with their kind, plan and state, and choices are explained', async t => {
    const { shop, open } = await visit(t);
    const key = async (name: string, fields: object) => {
      const body = { name, plan: 'free', scopes: ['pets:read'], ...fields };
      assert.equal((await shop.api.post('/keys', body)).status, 201);
    };
    await key('Till', {});
    await key('Storefront', { kind: 'publishable', origins: ['https://shop.example'], plan: 'pro' });
    await key('Guest', { expiresAt: new Date(shop.clock.now() + 400 * DAY).toISOString() });
    const shown = await open('/keys');
    const cells = async (name: string) =>
      (await shown.row(name).getByRole('gridcell').allInnerTexts()).slice(1, 5);
    await shown.row('Guest').waitFor();
    assert.deepEqual(await cells('Till'), ['Secret', 'Free', 'See animals and categories', 'Active']);
    assert.deepEqual(await cells('Storefront'), [
      'Publishable',
      'Pro',
      'See animals and categories',
      'Active',
    ]);
    await shown
      .row('Guest')
      .getByText(/^Expires in \d+ days/)
      .waitFor();

    await shown.go('/keys/new');
    await shown.panel
      .getByLabel(/^Plan/)
      .getByText('Free: 60 a minute, 1,000 a day')
      .waitFor({ state: 'attached' });
    await shown.panel.getByLabel(/^Place and change orders/).check();
    await shown.panel.getByLabel(/^Everything, and manage keys/).waitFor();
  });

  it('are listed by their requests today, with those that were rejected', async t => {
    const { shop, page, open } = await visit(t);
    const quotas = { perMinute: 3, perDay: 3 };
    await shop.clientWith({ name: 'Idle desk' });
    const desk = await shop.clientWith({ name: 'Desk' });
    const site = await shop.clientWith({ name: 'Cart site', plan: 'enterprise', quotas });
    for (let i = 0; i < 2; i++) await desk.get('/pets');
    for (let i = 0; i < 5; i++) await site.get('/pets');
    await shop.app.keyLimits.flush();
    const shown = await open('/keys');
    const cart = shown.row('Cart site');
    await cart.getByText('100 %').waitFor();
    await cart.getByText('2 rejected').waitFor();
    await cart.getByText('5', { exact: true }).waitFor();
    await shown.row('Idle desk').getByText('None').waitFor();

    const names = () => page.locator('.table-space strong').allInnerTexts();
    // The requests of the console are those of the administrator.
    const ofClients = async () => (await names()).filter(name => /^(Idle desk|Desk|Cart site)$/.test(name));
    assert.deepEqual(await ofClients(), ['Idle desk', 'Desk', 'Cart site']);
    await page.getByRole('columnheader', { name: 'Today' }).getByRole('link').click();
    await shown.row('Idle desk').waitFor({ state: 'detached' });
    assert.deepEqual(await ofClients(), ['Cart site', 'Desk']);
    await page.reload();
    await cart.waitFor();
    assert.deepEqual(await ofClients(), ['Cart site', 'Desk']);
    await page.getByRole('columnheader', { name: 'Today' }).getByRole('link').click();
    await shown.row('Idle desk').waitFor();
  });

  it('that have used their day, or have sent no request for 90 days, are marked, also on a phone', async t => {
    const { shop, page, open } = await visit(t);
    const used = await usedUp(shop);
    await shop.api.patch(`/keys/${used.keyId}`, { name: 'Exhausted' });
    await shop.app.keyLimits.flush();
    const { body: unused } = await shop.api.post('/keys', {
      ...{ name: 'Forgotten', plan: 'free', scopes: ['pets:read'] },
    });
    await shop.app.db.run('UPDATE api_keys SET created_at = ? WHERE id = ?', [
      shop.clock.now() - 90 * DAY,
      unused.id,
    ]);
    const shown = await open('/keys?show=all');
    for (const size of [page.viewportSize()!, phone]) {
      await page.setViewportSize(size);
      const row = shown.row('Exhausted');
      for (const mark of ['100 %', 'Active']) await row.getByText(mark).last().waitFor();
      for (const mark of ['Unused', 'Active']) await shown.row('Forgotten').getByText(mark).waitFor();
    }
  });

  it('that have used most of their day are marked, and the panel lists the warnings', async t => {
    const { shop, page, open } = await visit(t);
    const warned = await shop.clientWith({
      name: 'Busy',
      ...{ plan: 'enterprise', scopes: ['pets:read'], quotas: { perMinute: 100, perDay: 10 } },
      expiresAt: new Date(shop.clock.now() + 40 * DAY).toISOString(),
    });
    for (let i = 0; i < 9; i++) await warned.get('/pets');
    await warned.post('/account/plan-requests', { plan: 'pro', note: 'We reach our limit each day' });
    await shop.app.keyLimits.flush();
    const shown = await open('/keys');
    const mark = shown.row('Busy').getByText('90 %');
    await mark.waitFor();
    assert.equal(await mark.getAttribute('data-tone'), 'warning');
    await mark.click();
    const warnings = shown.panel.getByRole('list', { name: 'Warnings' });
    await warnings.getByText('80 % of 10 requests a day used').waitFor();
    assert.equal(await warnings.getByRole('listitem').count(), 1);
    const now = shop.clock.now();
    await shop.app.db.run('UPDATE api_keys SET expires_at = ?, expiry_warning_at = ? WHERE id = ?', [
      ...[now + 4 * DAY, now, warned.keyId],
    ]);
    await shop.app.sweeper.run();
    await page.reload();
    await warnings.getByText('Expiry: 14 days were left').waitFor();
    await shop.api.patch(`/keys/${warned.keyId}`, { quotas: { perMinute: 5, perDay: 5 } });
    const over = shown.row('Busy').getByText('180 %');
    await over.waitFor();
    assert.equal(await over.getAttribute('data-tone'), 'danger');
  });
});

it('a ban appears by itself in the list and the panel, is in the plot, and is lifted', async t => {
  const { shop, page, open } = await visit(t);
  const client = await usedUp(shop);
  await shop.api.patch(`/keys/${client.keyId}`, { name: 'Impatient' });
  const shown = await open('/keys?name=impatient');
  await shown.row('Impatient').waitFor();
  await shown.live();
  await provokeBan(shop, client);
  await shown.row('Impatient').getByText('Banned').waitFor();

  await shown.row('Impatient').getByText('Impatient').click();
  await shown.panel.getByText(/^Banned until/).waitFor();
  await shown.panel
    .getByRole('img', { name: /1 admitted, [1-9]\d* rejected, 1 ban, limit 1 a day/ })
    .waitFor();
  await shown.panel.locator('.plot svg').waitFor();
  await assertFollowsTheme(page, 'dialog .plot', 'danger', () => page.emulateMedia({ colorScheme: 'dark' }));
  await shown.panel.getByRole('button', { name: 'Lift the ban' }).click();
  await shown.question.getByRole('button', { name: 'Lift the ban' }).click();
  await shown.panel.getByText(/^Banned until/).waitFor({ state: 'detached' });
  assert.equal((await shop.api.get(`/keys/${client.keyId}`)).body.ban, null);

  // The requests of the day are still used up, until its limits are reset.
  assert.equal((await client.get('/pets')).status, 429);
  // Playwright presses a key without waiting until the button is enabled.
  const reset = shown.panel.getByRole('button', { name: 'Reset the limits', disabled: false });
  await reset.press('Enter');
  await shown.question.getByRole('button', { name: 'Reset' }).press('Enter');
  await shown.messages.getByText('The limits of Impatient start again').waitFor();
  await reset.and(page.locator(':focus')).waitFor();
  assert.equal((await client.get('/pets')).status, 200);
});

it('a ban that ends on another day has its date in the list', async t => {
  const { shop, openWithClock } = await visit(t);
  const client = await usedUp(shop);
  await shop.api.patch(`/keys/${client.keyId}`, { name: 'Banned overnight' });
  await provokeBan(shop, client);
  const { until } = (await shop.api.get(`/keys/${client.keyId}`)).body.ban;
  const shown = await openWithClock('/categories');
  const shownAt = async (time: number, text: RegExp) => {
    await shown.page.clock.setSystemTime(time);
    await shown.go('/keys?name=banned');
    await shown.row('Banned overnight').getByText(text).waitFor();
    await shown.go('/categories');
  };
  await shownAt(Date.parse(until) - MINUTE, /^Banned until \d+:\d+\s[AP]M$/);
  await shownAt(Date.parse(until) - DAY, /^Banned until \d+\/\d+\/\d+, \d+:\d+\s[AP]M$/);
});

it('a key that is used while another page is shown is listed as used at the next visit', async t => {
  const { shop, page, open } = await visit(t);
  const client = await shop.clientWith({ scopes: ['pets:read'] });
  await shop.api.patch(`/keys/${client.keyId}`, { name: 'Patient' });
  const shown = await open('/keys?name=patient');
  const unused = shown.row('Patient').getByText('Never');
  await unused.waitFor();
  await shown.go('/categories');
  await page.getByRole('heading', { name: 'Categories', level: 1 }).waitFor();
  assert.equal((await client.get('/pets')).status, 200);
  await page.goBack();
  await shown.row('Patient').waitFor();
  await unused.waitFor({ state: 'detached' });
});

it('a ban appears in a panel that is already open, and in its plot, at once', async t => {
  const { shop, openWithClock } = await visit(t);
  const client = await usedUp(shop);
  const shown = await openWithClock(`/keys/${client.keyId}`);
  const { page } = shown;
  await shown.panel.getByRole('img', { name: /, 0 bans,/ }).waitFor();
  await shown.live();
  // The plot is also read again every half minute. `eventually` lets less than a second of this time pass.
  await stopClock(page);
  await provokeBan(shop, client);
  const alert = shown.panel.getByText(/^Banned until/);
  const plot = shown.panel.getByRole('img', { name: /, 1 ban,/ });
  await eventually(async () => {
    await page.clock.runFor(1);
    return [await alert.isVisible(), await plot.isVisible()];
  }, [true, true]);
});

it('a ban that ends by itself disappears from the list within half a minute', async t => {
  const { shop, openWithClock } = await visit(t);
  const client = await usedUp(shop);
  await shop.api.patch(`/keys/${client.keyId}`, { name: 'Patient again' });
  const shown = await openWithClock('/keys?name=patient');
  const { page } = shown;
  await shown.row('Patient again').waitFor();
  await shown.live();
  await provokeBan(shop, client);
  await shown.row('Patient again').getByText('Banned').waitFor();
  const { until } = (await shop.api.get(`/keys/${client.keyId}`)).body.ban;
  shop.clock.advance(Date.parse(until) - shop.clock.now());
  await page.clock.fastForward(30_000);
  await shown.row('Patient again').getByText('Banned').waitFor({ state: 'detached' });
});

it('several bans that end by themselves disappear from the list at once', async t => {
  const { shop, openWithClock } = await visit(t);
  const clients = [await usedUp(shop), await usedUp(shop)];
  for (const [i, { keyId }] of clients.entries())
    await shop.api.patch(`/keys/${keyId}`, { name: `Both ${i}` });
  const shown = await openWithClock('/keys?name=both');
  const banned = shown.row('Both').getByText('Banned');
  await shown.row('Both 1').waitFor();
  await shown.live();
  for (const client of clients) await provokeBan(shop, client);
  await eventually(() => banned.count(), 2);
  // Later than the end of the longest ban.
  shop.clock.advance(DAY);
  await shown.page.clock.fastForward(30_000);
  await eventually(() => banned.count(), 0);
});

it('a ban stays in the list after a change by a replica that has not seen it', async t => {
  const { shop, page, open } = await visit(t);
  const client = await usedUp(shop);
  await shop.api.patch(`/keys/${client.keyId}`, { name: 'Banned elsewhere' });
  await provokeBan(shop, client);
  const { body: key } = await shop.api.get(`/keys/${client.keyId}`);
  const shown = await open('/keys?name=banned+elsewhere');
  await shown.row('Banned elsewhere').getByText('Banned until').waitFor();
  await shown.live();
  const isReadAgain = page.waitForResponse(response => response.url().endsWith(`/keys/${client.keyId}`));
  await shop.app.db.write(async tx => keyEvents.append(tx, 'key.rotated', key.id, { ...key, ban: null }));
  await isReadAgain;
  await shown.row('Banned elsewhere').getByText('Banned until').waitFor();
});

it('the usage of a key has the newest bans of its 90 days, up to 3,000, also if the log has a thousand earlier ones', async t => {
  const { shop, open } = await visit(t);
  const { keyId } = await shop.clientWith({ plan: 'free', scopes: ['pets:read'] });
  const ban = (count: number) =>
    appendMany(shop.app, count, { type: 'key.banned', subject: `keys/${keyId}` });
  await ban(1_100);
  // The last test of the file, because the others compare this clock with that of the browser.
  shop.clock.advance(100 * DAY);
  await ban(3);
  shop.clock.advance(40 * DAY);
  await ban(2);
  await shop.app.db.numberEvents();
  const shown = await open(`/keys/${keyId}`);
  const bans = (count: string) =>
    shown.panel.getByRole('img', { name: new RegExp(`: 0 admitted, 0 rejected, ${count} bans`) }).waitFor();
  await bans('5');
  assert.equal(await shown.panel.locator('.plot').getByText('Bans', { exact: true }).count(), 1);
  shop.clock.advance(DAY);
  await ban(2_999);
  await shop.app.db.numberEvents();
  await shown.page.reload();
  await bans('3,000');
  await shown.panel.getByText('As a table').click();
  const days = await shown.panel.getByRole('table').locator('td:last-child').allInnerTexts();
  assert.deepEqual(days, ['2,999', '1']);
});
