import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY } from '../../src/kit/clock.ts';
import { asksToLeave, eventually, recordCopies, storedIn } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';

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
    await shown.field('Requests per day').fill('9.000');
    await dialog.getByRole('checkbox', { name: /orders:read/ }).check();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('It cannot be shown again').waitFor();
    await dialog.getByText(`A person signs in with it at ${shop.origin}/console.`).waitFor();
    const first = await secretOf();
    assert.deepEqual(await scopesWith(first), ['pets:read', 'orders:read']);

    // It asks before it closes, because the secret was not copied. So does the browser before the page is left.
    await eventually(() => asksToLeave(page), true);
    await page.keyboard.press('Escape');
    await shown.question.getByText('was not copied').waitFor();
    await shown.question.getByRole('button', { name: 'Back to the secret' }).click();
    await page.goBack();
    await shown.question.getByText('was not copied').waitFor();
    await shown.question.getByRole('button', { name: 'Back to the secret' }).click();
    assert.equal(await secretOf(), first);
    await page.evaluate(recordCopies);
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await dialog.getByText('Copied', { exact: true }).waitFor();
    assert.equal(await page.evaluate('copied'), first);
    await eventually(() => asksToLeave(page), false);
    await dialog.locator('.panel-footer').getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
    const kept = await storedIn(page);
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

  it('is created without origins after the kind with origins was chosen first', async t => {
    const { open } = await visit(t);
    const shown = await open('/keys/new');
    await shown.field('Name').fill('Not for pages');
    for (const kind of ['publishable', 'secret']) await shown.field('Kind').selectOption(kind);
    await shown.panel.getByRole('button', { name: 'Create' }).click();
    await shown.panel.getByText('It cannot be shown again').waitFor();
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

  it('whose plan and quotas two administrators change shows the conflict, and is saved after a choice', async t => {
    const { shop, api, open } = await visit(t);
    const quotas = { perMinute: 70, perDay: 700 };
    const { keyId } = await shop.clientWith({ plan: 'enterprise', scopes: ['pets:read'], quotas });
    const shown = await open(`/keys/${keyId}`);
    await shown.live();
    const plan = shown.panel.getByLabel(/^Plan/);
    const change = async (perDay: number) => {
      await plan.selectOption('pro');
      await api.patch(`/keys/${keyId}`, { quotas: { perDay } });
      await shown.panel.getByText(`Changed elsewhere to 70 per minute, ${perDay} per day`).waitFor();
    };
    await change(800);
    await shown.panel.getByRole('button', { name: 'Take theirs' }).click();
    assert.equal(await plan.inputValue(), 'enterprise');
    assert.equal(await shown.field('Requests per day').inputValue(), '800');
    await change(900);
    await shown.panel.getByRole('button', { name: 'Keep mine' }).click();
    await shown.save();
    await shown.panel.waitFor({ state: 'detached' });
    assert.equal((await api.get(`/keys/${keyId}`)).body.plan, 'pro');
  });

  it('of a person or a program has a template, which the list names', async t => {
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
    // The form has a button with this name too.
    await shown.panel.getByText('It cannot be shown again').waitFor();
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

  it('that has leaked is revoked after an administrator pastes the lines with its secret and that of another key', async t => {
    const { shop, page, open } = await visit(t);
    const key = { name: 'In a repository', plan: 'business', scopes: ['pets:read'] };
    const { key: secret } = (await shop.api.post('/keys', key)).body;
    const other = await shop.clientWith({ plan: 'free', scopes: ['pets:read'], kind: 'test' });
    const shown = await open('/keys');
    await shown.row('In a repository').waitFor();
    await page.getByRole('link', { name: 'Report a leak' }).click();
    await shown.panel.getByLabel(/^Secrets/).fill('API_KEY=psk_abc');
    await shown.panel.getByRole('button', { name: 'Report' }).click();
    await shown.panel.getByText('The text has no secret of a key').waitFor();
    await shown.panel.getByLabel(/^Secrets/).fill(`export API_KEY="${secret}" # till\nTEST_KEY=${other.key}`);
    await shown.panel.getByLabel(/^Where/).fill('github.com/shop/site, .env');
    await shown.panel.getByRole('button', { name: 'Report' }).click();
    await shown.messages.getByText('Reported 2 secrets').waitFor();
    for (const client of [shop.api.as(secret), other]) assert.equal((await client.get('/pets')).status, 401);
    await page.getByText('reported a secret of the key In a repository as leaked').waitFor();
    const kept = await storedIn(page);
    assert.ok(!String(kept).includes(secret), 'the secret is stored nowhere');
    const [event] = (await shop.api.get('/history?type=key.leaked')).body;
    assert.ok(JSON.stringify(event).includes('github.com/shop/site, .env'));
  });

  it('without administrator rights reports its own secret as leaked, and its holder is signed out because it has ended', async t => {
    const { shop, api, page, watch, open } = await visit(t);
    watch.expect(/status of 401/);
    const holder = await shop.clientWith({ scopes: ['pets:read'] });
    const shown = await open('/animals', holder.key);
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: /^This key/ }).click();
    await page.getByRole('link', { name: 'Report a leak' }).click();
    const footer = await shown.panel.locator('form > footer').boundingBox();
    assert.equal(footer?.width, (await shown.panel.locator('form').boundingBox())?.width);
    await shown.panel.getByLabel(/^Secrets/).fill(`KEY=${holder.key}`);
    await shown.panel.getByRole('button', { name: 'Report' }).click();
    await page.getByText('The API key is no longer valid').waitFor();
    assert.notEqual((await api.get(`/keys/${holder.keyId}`)).body.revokedAt, null);
  });

  it('is rotated with an overlap of a day unless the user chooses another one', async t => {
    const { shop, page, open } = await visit(t);
    const client = await shop.clientWith({ scopes: ['pets:read'] });
    const shown = await open(`/keys/${client.keyId}`);
    await shown.panel.getByRole('button', { name: 'Rotate the secret' }).click();
    const rotated = page.waitForResponse(response => response.request().method() === 'POST');
    await shown.question.getByRole('button', { name: 'Rotate' }).click();
    const { earlierKeysExpireAt } = await (await rotated).json();
    assert.equal(Date.parse(earlierKeysExpireAt), shop.clock.now() + DAY);
    assert.equal((await client.get('/pets')).status, 200);
    await shown.panel.getByText('It cannot be shown again').waitFor();
    await shown.panel.getByText(/^The earlier secret works until \d/).waitFor();
  });

  it('that has leaked is rotated without an overlap, as its panel then says', async t => {
    const { shop, open } = await visit(t);
    const client = await shop.clientWith({ scopes: ['pets:read'] });
    const shown = await open(`/keys/${client.keyId}`);
    await shown.panel.getByRole('button', { name: 'Rotate the secret' }).click();
    await shown.question.getByLabel(/How long the earlier secret/).selectOption('0');
    await shown.question.getByRole('button', { name: 'Rotate' }).click();
    await shown.panel.getByText('The earlier secret no longer works.').waitFor();
    assert.equal((await client.get('/pets')).status, 401);
  });

  it('of the console itself cannot be rotated without an overlap, because its new secret could not be shown then', async t => {
    const { api, open } = await visit(t);
    const { keyId } = (await api.get('/account')).body;
    const shown = await open(`/keys/${keyId}`);
    await shown.panel.getByRole('button', { name: 'Rotate the secret' }).click();
    await shown.question.getByText('The console uses this key').waitFor();
    const graces = shown.question.getByLabel(/How long the earlier secret/).getByRole('option');
    assert.deepEqual(await graces.allInnerTexts(), ['One hour', 'One day', 'Seven days']);
  });

  it('for pages in browsers needs origins, which can be changed, and has at most two scopes', async t => {
    const { api, page, watch, open } = await visit(t);
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
    await page.goto('/console/keys');
    await shown.row('Pages of the shop').getByText('Pages of the shop').click();
    await shown.panel.getByLabel(/origins/).fill('https://other.example\n');
    await shown.save();
    await shown.panel.waitFor({ state: 'detached' });
    assert.deepEqual((await api.get(`/keys/${body[0].id}`)).body.origins, ['https://other.example']);
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

it('a wrong value is explained next to its field', async t => {
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
    ['Name', 'Enter a name'],
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
