import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { upsertUsage } from '../../src/access/rate-limits/limit-queries.ts';
import { DAY } from '../../src/kit/clock.ts';
import { provokeBan, usedUp } from '../access/provoke-ban.ts';
import { eventually } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { assertFollowsTheme } from '../support/plot-colors.ts';

const visit = useConsole();

describe('a key', () => {
  it('is created, shown once, changed, rotated and revoked', async t => {
    const { shop, page, context, open } = await visit(t);
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: shop.origin });
    const shown = await open('/keys');
    await shown.live();
    const dialog = shown.panel;
    const secretOf = () => dialog.getByLabel('Secret', { exact: true }).inputValue();
    const scopesWith = async (secret: string) => {
      const { status, body } = await shop.api.as(secret).get('/account');
      return status === 200 ? body.scopes : status;
    };

    await page.getByRole('link', { name: 'Create key' }).click();
    await shown.field('Name').fill('Web shop');
    await dialog.getByLabel(/^Plan/).selectOption('enterprise');
    await shown.field('Requests per minute').fill('70');
    await shown.field('Requests per day').fill('9000');
    await dialog.getByRole('checkbox', { name: /orders:read/ }).check();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('It cannot be shown again').waitFor();
    await dialog.getByText(`A person signs in with it at ${shop.origin}/console.`).waitFor();
    const first = await secretOf();
    assert.deepEqual(await scopesWith(first), ['pets:read', 'orders:read']);

    // It asks before it closes, because the secret was not copied.
    await page.keyboard.press('Escape');
    await shown.question.getByText('was not copied').waitFor();
    await shown.question.getByRole('button', { name: 'Back to the secret' }).click();
    await page.goBack();
    await shown.question.getByText('was not copied').waitFor();
    await shown.question.getByRole('button', { name: 'Back to the secret' }).click();
    assert.equal(await secretOf(), first);
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await dialog.getByText('Copied', { exact: true }).waitFor();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), first);
    await dialog.locator('.panel-footer').getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
    assert.ok(!String(kept).includes(first), 'the secret is stored nowhere');
    assert.ok(!(await page.content()).includes(first));

    const { keyId } = (await shop.api.as(first).get('/account')).body;
    const key = async () => (await shop.api.get(`/keys/${keyId}`)).body;
    assert.deepEqual((await key()).quotas, { perMinute: 70, perDay: 9000 });
    await shown.row('Web shop').getByText('Web shop').click();
    await dialog.getByLabel(/^Plan/).selectOption('pro');
    await dialog.getByRole('checkbox', { name: /pets:write/ }).check();
    await shown.save();
    await dialog.waitFor({ state: 'detached' });
    const changed = await key();
    assert.deepEqual([changed.plan, changed.quotas], ['pro', null]);
    assert.deepEqual([...changed.scopes].sort(), ['orders:read', 'pets:read', 'pets:write']);
    await shown.messages.filter({ hasText: 'Saved Web shop' }).getByText('Undo').last().click();
    await eventually(async () => (await key()).quotas, { perMinute: 70, perDay: 9000 });

    await shown.row('Web shop').getByText('Web shop').click();
    await dialog.getByRole('button', { name: 'Rotate the secret' }).click();
    await shown.question.getByLabel(/How long the earlier secret/).selectOption('0');
    await shown.question.getByRole('button', { name: 'Rotate' }).click();
    await dialog.getByText('It cannot be shown again').waitFor();
    const second = await secretOf();
    assert.equal(await scopesWith(first), 401);
    assert.deepEqual(await scopesWith(second), ['pets:read', 'orders:read']);
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await dialog.getByText('Copied', { exact: true }).waitFor();
    await dialog.locator('.panel-footer').getByRole('button', { name: 'Close' }).click();

    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await shown.question.getByRole('button', { name: 'Revoke' }).click();
    await dialog.waitFor({ state: 'detached' });
    await shown.row('Web shop').getByText('Revoked').waitFor();
    assert.equal(await scopesWith(second), 401);
  });

  it('can be limited to networks, and is used from anywhere again when the field is empty', async t => {
    const { shop, page, open, watch } = await visit(t);
    watch.expect(/status of 400/);
    const shown = await open('/keys/new');
    await shown.field('Name').fill('Warehouse only');
    const field = shown.panel.getByLabel(/^Networks/);
    await field.fill('10.0.0.0/8\n\n not a network\n');
    await shown.panel.getByRole('button', { name: 'Create' }).click();
    await shown.panel.locator('.field-error', { hasText: 'not a network' }).waitFor();
    await field.fill('10.0.0.0/8\n\n2001:db8::/32\n');
    await shown.panel.getByRole('button', { name: 'Create' }).click();
    await shown.panel.getByText('It cannot be shown again').waitFor();
    const networks = async () => (await shop.api.get('/keys?name=Warehouse%20only')).body[0].allowedNetworks;
    assert.deepEqual(await networks(), ['10.0.0.0/8', '2001:db8::/32']);
    await page.goto('/console/keys');
    await shown.row('Warehouse only').getByText('Warehouse only').click();
    await field.fill('');
    await shown.save();
    await shown.panel.waitFor({ state: 'detached' });
    assert.equal(await networks(), null);
  });

  it('that has leaked is revoked after an administrator pastes the line with its secret', async t => {
    const { shop, page, open } = await visit(t);
    const key = { name: 'In a repository', plan: 'business', scopes: ['pets:read'] };
    const { key: secret } = (await shop.api.post('/keys', key)).body;
    const shown = await open('/keys');
    await shown.row('In a repository').waitFor();
    await page.getByRole('link', { name: 'Report a leak' }).click();
    await shown.panel.getByLabel(/^Secrets/).fill('API_KEY=psk_abc');
    await shown.panel.getByRole('button', { name: 'Report' }).click();
    await shown.panel.getByText('The text has no secret of a key').waitFor();
    await shown.panel.getByLabel(/^Secrets/).fill(`export API_KEY="${secret}" # till`);
    await shown.panel.getByLabel(/^Where/).fill('github.com/shop/site, .env');
    await shown.panel.getByRole('button', { name: 'Report' }).click();
    await shown.messages.getByText('Reported 1 secret').waitFor();
    assert.equal((await shop.api.as(secret).get('/pets')).status, 401);
    await page.getByText('reported a secret of the key In a repository as leaked').waitFor();
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
    assert.ok(!String(kept).includes(secret), 'the secret is stored nowhere');
    const [event] = (await shop.api.get('/history?type=key.leaked')).body;
    assert.ok(JSON.stringify(event).includes('github.com/shop/site, .env'));
  });

  it('for pages in browsers needs origins, and has at most two scopes', async t => {
    const { api, watch, open } = await visit(t);
    watch.expect(/status of 400/);
    const shown = await open('/keys/new');
    await shown.field('Name').fill('Pages of the shop');
    await shown.field('Kind').selectOption('publishable');
    await shown.panel.getByRole('checkbox').nth(1).waitFor();
    assert.equal(await shown.panel.getByRole('checkbox').count(), 2);
    await shown.panel.getByRole('button', { name: 'Create' }).click();
    await shown.panel.locator('.field-error').first().waitFor();
    await shown.panel.getByLabel(/origins/).fill('https://shop.example\n');
    await shown.panel.getByRole('button', { name: 'Create' }).click();
    await shown.panel.getByText('It cannot be shown again').waitFor();
    const { body } = await api.get('/keys?name=pages');
    assert.deepEqual(
      body.map((key: { kind: string; origins: string[] }) => [key.kind, key.origins]),
      [['publishable', ['https://shop.example']]],
    );
  });
});

describe('a test key', () => {
  it('is created with the plan Free and rights in the shop, and is marked in the list', async t => {
    const { api, open } = await visit(t);
    const shown = await open('/keys/new');
    await shown.field('Name').fill('Trial');
    await shown.panel.getByLabel(/^Plan/).selectOption('enterprise');
    await shown.panel.getByRole('checkbox', { name: /Everything/ }).check();
    await shown.panel.getByRole('checkbox', { name: /orders:write/ }).check();
    await shown.field('Kind').selectOption('test');
    assert.equal(await shown.panel.getByLabel(/^Plan/).getByRole('option').count(), 1);
    assert.equal(await shown.panel.getByRole('checkbox', { name: /Everything|webhooks/ }).count(), 0);
    await shown.panel.getByRole('button', { name: 'Create' }).click();
    await shown.panel.getByText('It cannot be shown again').waitFor();
    const { body } = await api.get('/keys?name=trial');
    assert.deepEqual(
      [body[0].kind, body[0].plan, body[0].scopes],
      ['test', 'free', ['pets:read', 'orders:write']],
    );
    await shown.row('Trial').getByText('2 rights, as a test').waitFor();
    await shown.row('Trial').getByText('Test', { exact: true }).waitFor();
  });

  it('is named while someone works with it', async t => {
    const { shop, open } = await visit(t);
    const { key } = await shop.clientWith({
      kind: 'test',
      plan: 'free',
      scopes: ['pets:read', 'pets:write'],
    });
    const shown = await open('/categories', key);
    await shown.page.getByText('This is a test key: what you change is only tried out').waitFor();
  });
});

describe('a ban', () => {
  it('appears by itself in the list and the panel, is in the plot, and is lifted', async t => {
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
    await assertFollowsTheme(page, 'dialog .plot', 'danger', () =>
      page.emulateMedia({ colorScheme: 'dark' }),
    );
    await shown.panel.getByRole('button', { name: 'Lift the ban' }).click();
    await shown.question.getByRole('button', { name: 'Lift the ban' }).click();
    await shown.panel.getByText(/^Banned until/).waitFor({ state: 'detached' });
    assert.equal((await shop.api.get(`/keys/${client.keyId}`)).body.ban, null);

    // The requests of the day are still used up, until its limits are reset.
    assert.equal((await client.get('/pets')).status, 429);
    await shown.panel.getByRole('button', { name: 'Reset the limits' }).click();
    await shown.question.getByRole('button', { name: 'Reset' }).click();
    await shown.messages.getByText('The limits of Impatient start again').waitFor();
    assert.equal((await client.get('/pets')).status, 200);
  });
});

describe('a wrong value', () => {
  it('is explained next to its field', async t => {
    const { page, watch, open } = await visit(t);
    watch.expect(/status of 400/);
    const shown = await open('/keys/new');
    await shown.panel.getByLabel(/^Plan/).selectOption('enterprise');
    await shown.field('Requests per day').fill('');
    await shown.panel.getByLabel(/^Expires/).fill('2020-01-01T10:00');
    await shown.panel.getByRole('button', { name: 'Create' }).click();
    await shown.panel.locator('.field-error').first().waitFor();
    const errors = await shown.panel
      .locator('.field')
      .filter({ has: page.locator('.field-error') })
      .evaluateAll(fields =>
        fields.map(field => [
          field.querySelector('label')?.textContent,
          field.querySelector('.field-error')?.textContent,
        ]),
      );
    assert.deepEqual(errors, [
      ['Name', 'Must not be empty, but was ""'],
      ['Requests per day', 'Must be at least 1, but was 0'],
    ]);
    await shown.field('Name').fill('Right');
    await shown.field('Requests per day').fill('100');
    await shown.panel.getByRole('button', { name: 'Create' }).click();
    await shown.panel
      .locator('.field')
      .filter({ has: page.getByLabel(/^Expires/) })
      .getByText('Must be in the future')
      .waitFor();
  });
});

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
    await shown.panel.locator('.plot svg').waitFor();
    await shown.panel.getByText('As a table').click();
    const rows = shown.panel.getByRole('table').getByRole('row');
    // The header is a row as well.
    assert.equal(await rows.count(), 91);
    assert.deepEqual(await rows.nth(1).locator('th, td').allInnerTexts(), ['Nov 21, 2026', '10', '0', '0']);
    assert.deepEqual(await rows.last().locator('th, td').allInnerTexts(), ['Aug 24, 2026', '10', '5', '0']);
  });
});

describe('the keys', () => {
  it('of people and programs have templates, which the list names', async t => {
    const { api, page, open } = await visit(t);
    const shown = await open('/keys/new');
    await shown.panel.getByRole('button', { name: 'Supplier' }).click();
    await shown.panel.getByRole('button', { name: 'Cashier' }).click();
    assert.equal(
      await shown.panel.getByRole('button', { name: 'Cashier' }).getAttribute('aria-pressed'),
      'true',
    );
    await shown.field('Name').fill('Carla');
    await shown.panel.getByRole('button', { name: 'Create' }).click();
    await shown.panel.getByRole('button', { name: 'Close' }).last().click();
    await page
      .getByRole('dialog', { name: /^Close without/ })
      .getByRole('button', { name: 'Close without copying' })
      .click();
    await shown.row('Carla').getByText('Cashier').waitFor();
    const [{ plan, scopes }] = (await api.get('/keys?name=Carla')).body;
    assert.deepEqual(
      [plan, scopes.toSorted()],
      [
        'business',
        ['events:read', 'inventory:read', 'inventory:write', 'orders:read', 'orders:write', 'pets:read'],
      ],
    );
  });

  it('are listed with their kind, plan and state, and choices are explained', async t => {
    const { shop, page, open } = await visit(t);
    const { clock, api } = shop;
    const key = async (name: string, fields: object) => {
      const body = { name, plan: 'free', scopes: ['pets:read'], ...fields };
      assert.equal((await api.post('/keys', body)).status, 201);
    };
    await key('Till', {});
    await key('Storefront', { kind: 'publishable', origins: ['https://shop.example'], plan: 'pro' });
    await key('Guest', { expiresAt: new Date(clock.now() + 400 * DAY).toISOString() });
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

    await page.goto('/console/keys/new');
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
});
