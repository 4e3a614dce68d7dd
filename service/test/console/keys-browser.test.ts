import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { provokeBan, usedUp } from '../access/provoke-ban.ts';
import { eventually, useBrowser } from '../support/browser.ts';
import { buildConsole, ConsolePage } from '../support/console-page.ts';
import { assertFollowsTheme } from '../support/plot-colors.ts';

const visit = useBrowser();
before(buildConsole);

describe('a key', () => {
  it('is created, shown once, changed, rotated and revoked', async t => {
    const visited = await visit(t);
    const { shop, context, page } = visited;
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: shop.origin });
    const shown = await ConsolePage.open(visited, '/keys');
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
    const first = await secretOf();
    assert.deepEqual(await scopesWith(first), ['pets:read', 'orders:read']);

    // It asks before it closes, because the secret was not copied.
    await page.keyboard.press('Escape');
    await shown.question.getByText('was not copied').waitFor();
    await shown.question.getByRole('button', { name: 'Keep' }).click();
    await page.goBack();
    await shown.question.getByText('was not copied').waitFor();
    await shown.question.getByRole('button', { name: 'Keep' }).click();
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

  it('for pages in browsers needs origins, and has at most two scopes', async t => {
    const visited = await visit(t);
    visited.watch.expect(/status of 400/);
    const shown = await ConsolePage.open(visited, '/keys/new');
    await shown.field('Name').fill('Pages of the shop');
    await shown.field('Kind').selectOption('publishable');
    await shown.panel.getByRole('checkbox').nth(1).waitFor();
    assert.equal(await shown.panel.getByRole('checkbox').count(), 2);
    await shown.panel.getByRole('button', { name: 'Create' }).click();
    await shown.panel.locator('.field-error').first().waitFor();
    await shown.panel.getByLabel(/origins/).fill('https://shop.example\n');
    await shown.panel.getByRole('button', { name: 'Create' }).click();
    await shown.panel.getByText('It cannot be shown again').waitFor();
    const { body } = await visited.shop.api.get('/keys?name=pages');
    assert.deepEqual(
      body.map((key: { kind: string; origins: string[] }) => [key.kind, key.origins]),
      [['publishable', ['https://shop.example']]],
    );
  });
});

describe('a ban', () => {
  it('appears by itself in the list and the panel, is in the plot, and is lifted', async t => {
    const visited = await visit(t);
    const { shop } = visited;
    const client = await usedUp(shop);
    await shop.api.patch(`/keys/${client.keyId}`, { name: 'Impatient' });
    const shown = await ConsolePage.open(visited, '/keys?name=impatient');
    await shown.row('Impatient').waitFor();
    await shown.live();
    await provokeBan(shop, client);
    await shown.row('Impatient').getByText('Banned').waitFor();

    await shown.row('Impatient').getByText('Impatient').click();
    await shown.panel.getByText(/^Banned until/).waitFor();
    await shown.panel
      .getByRole('img', { name: /1 admitted, [1-9]\d* rejected, 1 ban, limit 1 a day/ })
      .waitFor();
    await shown.panel.locator('canvas').waitFor();
    await assertFollowsTheme(visited.page, 'dialog canvas', 'danger', () =>
      visited.page.emulateMedia({ colorScheme: 'dark' }),
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
    const visited = await visit(t);
    visited.watch.expect(/status of 400/);
    const shown = await ConsolePage.open(visited, '/keys/new');
    await shown.panel.getByLabel(/^Plan/).selectOption('enterprise');
    await shown.field('Requests per day').fill('');
    await shown.panel.getByLabel(/^Expires/).fill('2020-01-01T10:00');
    await shown.panel.getByRole('button', { name: 'Create' }).click();
    await shown.panel.locator('.field-error').first().waitFor();
    const errors = await shown.panel
      .locator('.field')
      .filter({ has: visited.page.locator('.field-error') })
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
      .filter({ has: visited.page.getByLabel(/^Expires/) })
      .getByText('Must be in the future')
      .waitFor();
  });
});
