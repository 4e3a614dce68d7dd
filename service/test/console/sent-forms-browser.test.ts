import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Locator, Request } from 'playwright-core';
import { sendDue } from '../events/webhook-shop.ts';
import { asksToLeave, eventually, keepMessages } from '../support/browser.ts';
import { type ConsolePage, pressTwice, useConsole } from '../support/console-page.ts';
import { aCategory, anOrder, aPet, stockOf } from '../support/factories.ts';
import { delayResponses, holdRequests } from '../support/page-requests.ts';
import type { TestApp } from '../support/test-app.ts';

const visit = useConsole();

async function aWebhook({ api }: TestApp): Promise<number> {
  return (await api.post('/webhooks', { url: 'https://shop.example/events' })).body.id;
}

describe('a form that is submitted again while its request runs', () => {
  const find = async (form: Locator, petId: number) => {
    await form.getByLabel('Animal').fill(String(petId));
    await form.getByRole('option', { name: 'Twice' }).click();
  };
  const forms: Record<string, (shown: ConsolePage, petId: number) => Promise<Locator>> = {
    'the till': async (shown, petId) => {
      await shown.page.keyboard.press('s');
      await find(shown.question, petId);
      return shown.question.getByRole('button', { name: 'Sell' });
    },
    'a new order': async (shown, petId) => {
      await shown.go('/orders/new');
      await find(shown.panel, petId);
      return shown.panel.getByRole('button', { name: 'Place order' });
    },
    'the panel of an animal': async (shown, petId) => {
      await shown.go(`/animals/${petId}`);
      return shown.panel.getByRole('button', { name: 'Sell' });
    },
  };
  for (const [name, buttonOf] of Object.entries(forms))
    it(`is sent once, and the browser asks before the page is left meanwhile: ${name}`, async t => {
      const { api, page, open } = await visit(t);
      const petId = await aPet(api, { name: 'Twice', stock: 24 });
      const shown = await open('/categories');
      await shown.live();
      const button = await buttonOf(shown, petId);
      await button.and(page.getByRole('button', { disabled: false })).waitFor();
      const { read, arrive } = await delayResponses(page, '**/store/orders');
      await pressTwice(button);
      await read;
      assert.equal(await asksToLeave(page), true);
      arrive();
      await shown.messages.getByText(/^(Sold|Placed) /).waitFor();
      await eventually(() => asksToLeave(page), false);
      assert.deepEqual(await stockOf(api, petId), ['available', 23]);
    });
});

describe('an action that is chosen again while its request runs', () => {
  const aDelivery = async (shop: TestApp) => {
    const id = await aWebhook(shop);
    const { body } = await shop.api.post(`/webhooks/${id}/test`);
    await sendDue(shop.app);
    return `/webhooks/${id}/deliveries/${body.id}`;
  };
  const aRequest = async (shop: TestApp) => {
    const holder = await shop.clientWith({ plan: 'free', scopes: ['pets:read'] });
    await holder.post('/account/plan-requests', { plan: 'business' });
    return '/keys';
  };
  const aKeyPanel = async (shop: TestApp) =>
    `/keys/${(await shop.clientWith({ scopes: ['pets:read'] })).keyId}`;
  const aWebhookPanel = async (shop: TestApp) => `/webhooks/${await aWebhook(shop)}`;
  const anOpenOrder = async ({ api }: TestApp) =>
    `/orders/${await anOrder(api, { petId: await aPet(api, { stock: 5 }) })}`;
  const actions: [button: string, path: (shop: TestApp) => Promise<string>, url: string, confirm?: string][] =
    [
      ['Rotate the secret', aKeyPanel, '**/keys/*/rotate', 'Rotate'],
      ['Send a test', aWebhookPanel, '**/test'],
      ['Redeliver', aDelivery, '**/redeliver'],
      ['Approve', aRequest, '**/approve'],
      ['Complete', anOpenOrder, '**/batch'],
    ];
  for (const [name, path, url, confirm] of actions)
    it(`is sent once, and the browser asks before the page is left meanwhile: ${name}`, async t => {
      const { shop, page, open } = await visit(t);
      const shown = await open(await path(shop));
      let sent = 0;
      page.on('request', request => {
        if (request.method() === 'POST') sent++;
      });
      const { read, arrive } = await delayResponses(page, url);
      let button = shown.button(name);
      if (confirm !== undefined) {
        await button.click();
        button = shown.question.getByRole('button', { name: confirm });
      }
      await pressTwice(button);
      await read;
      assert.equal(await asksToLeave(page), true);
      arrive();
      await eventually(
        () => page.locator(':is(.panel-actions, .plan-requests) [aria-disabled="true"]').count(),
        0,
      );
      assert.equal(sent, 1);
    });
});

describe('a panel that is closed while its request runs', () => {
  /** Opens a panel, presses a button in it, and closes it before the response to `url` arrives. */
  const leave = async (
    shown: ConsolePage,
    path: string,
    url: string,
    press: (panel: Locator) => Promise<void>,
  ) => {
    await shown.go(path);
    const { read, arrive } = await delayResponses(shown.page, url);
    await press(shown.panel);
    await read;
    await shown.page.keyboard.press('Escape');
    await shown.panel.waitFor({ state: 'detached' });
    arrive();
  };

  it('does not lead to another page when the response arrives', async t => {
    const { shop, page, open } = await visit(t);
    const shown = await open('/categories');
    await leave(shown, `/webhooks/${await aWebhook(shop)}`, '**/test', panel =>
      panel.getByRole('button', { name: 'Send a test' }).click(),
    );
    await shown.messages.getByText('The test is sent').waitFor();
    assert.equal(new URL(page.url()).pathname, '/console/webhooks');
    const { key } = await shop.clientWith({ scopes: ['pets:read'] });
    await leave(shown, '/keys/leaked', '**/revoke-leaked', async panel => {
      await panel.getByLabel(/^Secrets/).fill(key);
      await panel.getByRole('button', { name: 'Report' }).click();
    });
    await shown.messages.getByText('Reported 1 secret').waitFor();
    assert.equal(new URL(page.url()).pathname, '/console/keys');
  });

  it('keeps nothing of what was added', async t => {
    const { open } = await visit(t);
    const shown = await open('/categories');
    await leave(shown, '/categories/new', '**/categories', async panel => {
      await panel.getByLabel('Name').fill('Added late');
      await panel.getByRole('button', { name: 'Add' }).click();
    });
    await shown.messages.getByText('Added late').waitFor();
    await shown.go('/categories/new');
    assert.equal(await shown.field('Name').inputValue(), '');
  });

  it('keeps nothing of what was saved, which somebody else may change then', async t => {
    const { api, page, open } = await visit(t);
    const id = await aCategory(api, { name: 'Not saved yet' });
    const shown = await open(`/categories/${id}`);
    await shown.live();
    const isSave = (request: Request) => request.method() === 'PATCH';
    const save = await holdRequests(page, `**/categories/${id}`, isSave);
    await shown.field('Name').fill('Saved late');
    const sent = page.waitForRequest(isSave);
    await shown.save();
    await sent;
    await page.keyboard.press('Escape');
    await shown.panel.waitFor({ state: 'detached' });
    save();
    await shown.messages.getByText('Saved late').waitFor();
    await api.patch(`/categories/${id}`, { name: 'Changed since then' });
    await shown.row('Changed since then').waitFor();
    await shown.go(`/categories/${id}`);
    assert.equal(await shown.field('Name').inputValue(), 'Changed since then');
  });

  it('shows in a message why the service has rejected it', async t => {
    const { api, watch, open } = await visit(t);
    watch.expect(/status of 409/);
    await aCategory(api, { name: 'Taken' });
    const shown = await open('/categories');
    await leave(shown, '/categories/new', '**/categories', async panel => {
      await panel.getByLabel('Name').fill('Taken');
      await panel.getByRole('button', { name: 'Add' }).click();
    });
    await shown.messages.getByText('Taken').waitFor();
  });

  it('says whose secret was not shown, until the message is closed', async t => {
    const { shop, open } = await visit(t);
    const shown = await open('/categories');
    const { keyId } = await shop.clientWith({ scopes: ['pets:read'] });
    const rotate = async (panel: Locator) => {
      await panel.getByRole('button', { name: 'Rotate the secret' }).click();
      await shown.question.getByRole('button', { name: 'Rotate' }).click();
    };
    const lost: [name: string, lose: () => Promise<void>][] = [
      ['Test client', () => leave(shown, `/keys/${keyId}`, `**/keys/${keyId}/rotate`, rotate)],
      [
        'https://shop.example/events',
        async () => {
          const id = await aWebhook(shop);
          await leave(shown, `/webhooks/${id}`, `**/webhooks/${id}/rotate`, rotate);
        },
      ],
      [
        'Closed early',
        () =>
          leave(shown, '/keys/new', '**/keys', async panel => {
            await panel.getByLabel('Name', { exact: true }).fill('Closed early');
            await panel.getByRole('button', { name: 'Create' }).click();
          }),
      ],
      [
        'https://shop.example/events',
        () =>
          leave(shown, '/webhooks/new', '**/webhooks', async panel => {
            await panel.getByLabel('URL').fill('https://shop.example/events');
            await panel.getByRole('button', { name: 'Add' }).click();
          }),
      ],
    ];
    for (const [name, lose] of lost) {
      const message = shown.messages.getByText(`The new secret of ${name} was not shown`);
      await lose();
      await message.waitFor();
      await shown.messages.getByRole('button', { name: 'Dismiss' }).click();
      await message.waitFor({ state: 'detached' });
    }
  });
});

describe('a sale whose response is late', () => {
  it('leaves in the till what is typed meanwhile, also in one that was opened since', async t => {
    const { api, page, open } = await visit(t);
    for (const name of ['Earlier', 'Later']) await aPet(api, { name, stock: 9 });
    const shown = await open('/categories');
    await page.evaluate(keepMessages);
    const animal = shown.question.getByLabel('Animal');
    const units = shown.question.getByLabel('Units');
    const startSale = async () => {
      await page.keyboard.press('s');
      await animal.fill('earlier');
      await page.keyboard.press('Enter');
      await units.and(page.locator(':focus')).waitFor();
      const response = await delayResponses(page, '**/store/orders');
      await page.keyboard.press('Enter');
      await response.read;
      return response;
    };
    const sell = shown.question.getByRole('button', { name: 'Sell', exact: true });

    const first = await startSale();
    await units.fill('5');
    first.arrive();
    await shown.messages.getByText('Sold 1 of Earlier').waitFor();
    await sell.waitFor();
    assert.equal(await units.inputValue(), '5');
    await page.keyboard.press('Escape');

    const second = await startSale();
    await page.keyboard.press('Escape');
    await page.keyboard.press('s');
    await animal.fill('later');
    await page.keyboard.press('Enter');
    await units.fill('3');
    second.arrive();
    await eventually(() => shown.messages.getByText('Sold 1 of Earlier').count(), 2);
    assert.equal(await units.inputValue(), '3');
    await sell.click();
    await shown.messages.getByText('Sold 3 of Later').waitFor();
    await shown.question.waitFor({ state: 'detached' });
  });

  it('leaves the next number in the panel of the animal', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Counted on', stock: 9 });
    const shown = await open(`/animals/${petId}`);
    const { read, arrive } = await delayResponses(page, '**/store/orders');
    const sell = shown.panel.getByRole('button', { name: 'Sell', disabled: false });
    await sell.click();
    await read;
    await shown.panel.getByLabel('Units').fill('5');
    arrive();
    await sell.waitFor();
    assert.equal(await shown.panel.getByLabel('Units').inputValue(), '5');
  });
});
