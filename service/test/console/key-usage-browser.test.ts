import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { upsertUsage } from '../../src/access/rate-limits/limit-queries.ts';
import { DAY } from '../../src/kit/clock.ts';
import { assertAccessible } from '../support/axe-check.ts';
import { useBrowser } from '../support/browser.ts';
import { buildConsole, ConsolePage } from '../support/console-page.ts';

const visit = useBrowser();
before(buildConsole);

describe('the usage of a key', () => {
  it('without a request says so', async t => {
    const visited = await visit(t);
    const { keyId } = await visited.shop.clientWith({ plan: 'free', scopes: ['pets:read'] });
    const shown = await ConsolePage.open(visited, `/keys/${keyId}`);
    await shown.panel.getByText('The key sent no requests in this period').waitFor();
    await shown.panel
      .getByRole('img', { name: /0 admitted, 0 rejected, 0 bans, limit 1,000 a day/ })
      .waitFor();
    assert.equal(await shown.panel.getByText('As a table').count(), 0);
  });

  it('of 90 days is a plot with a sum, and a table of the days', async t => {
    const visited = await visit(t);
    const { shop, page } = visited;
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
    const shown = await ConsolePage.open(visited, `/keys/${keyId}`);
    // The earliest of the 91 days is not part of it, the one after it is.
    await shown.panel.getByRole('img', { name: /: 900 admitted, 5 rejected, 0 bans/ }).waitFor();
    await shown.panel.locator('canvas').waitFor();
    await shown.panel.getByText('As a table').click();
    const rows = shown.panel.getByRole('table').getByRole('row');
    // The header is a row as well.
    assert.equal(await rows.count(), 91);
    assert.deepEqual(await rows.nth(1).locator('th, td').allInnerTexts(), ['Nov 21, 2026', '10', '0', '0']);
    assert.deepEqual(await rows.last().locator('th, td').allInnerTexts(), ['Aug 24, 2026', '10', '5', '0']);
    await assertAccessible(page);
  });
});

describe('the keys', () => {
  it('are listed with their kind, plan and state, and choices are explained', async t => {
    const visited = await visit(t);
    const { shop, page } = visited;
    const { clock, api } = shop;
    const key = async (name: string, fields: object) => {
      const body = { name, plan: 'free', scopes: ['pets:read'], ...fields };
      assert.equal((await api.post('/keys', body)).status, 201);
    };
    await key('Till', {});
    await key('Pages', { kind: 'publishable', origins: ['https://shop.example'], plan: 'pro' });
    await key('Guest', { expiresAt: new Date(clock.now() + 400 * DAY).toISOString() });
    const shown = await ConsolePage.open(visited, '/keys');
    const cells = async (name: string) =>
      (await shown.row(name).getByRole('gridcell').allInnerTexts()).slice(1, 5);
    await shown.row('Guest').waitFor();
    assert.deepEqual(await cells('Till'), ['Secret', 'Free', 'pets:read', 'Works']);
    assert.deepEqual(await cells('Pages'), ['Publishable', 'Pro', 'pets:read', 'Works']);
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
    await assertAccessible(page);
  });
});
