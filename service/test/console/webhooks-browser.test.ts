import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MINUTE } from '../../src/kit/clock.ts';
import { type Received, Receiver } from '../events/receiver.ts';
import { sendDue } from '../events/webhook-shop.ts';
import { eventually, keepMessages } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory } from '../support/factories.ts';
import { holdRequests } from '../support/page-requests.ts';
import type { TestApp } from '../support/test-app.ts';

const visit = useConsole();

/** Attempts every delivery that is due. */
async function settle({ app }: TestApp): Promise<void> {
  await app.db.numberEvents();
  await sendDue(app);
}

it('a delivery that is sent again changes no webhook in the list, also one with its ID', async t => {
  const { shop, open } = await visit(t);
  const { api } = shop;
  const added: number[] = [];
  const add = async (url: string): Promise<number> => {
    const { body } = await api.post('/webhooks', { url, types: ['pet.*'] });
    added.push(body.id);
    return body.id;
  };
  try {
    const other = await add('https://other.example/');
    let id = await add('https://same.example/');
    const send = async (): Promise<number> => (await api.post(`/webhooks/${other}/test`)).body.id;
    let delivery = await send();
    while (delivery !== id) {
      if (delivery < id) delivery = await send();
      else id = await add('https://same.example/');
    }
    await settle(shop);
    const shown = await open('/webhooks');
    await shown.row('same.example').first().waitFor();
    await shown.live();
    const count = await shown.row('same.example').count();
    const { status } = await api.post(`/webhooks/${other}/deliveries/${delivery}/redeliver`);
    assert.equal(status, 200);
    await api.patch(`/webhooks/${other}`, { description: 'Changed later' });
    await shown.row('Changed later').waitFor();
    assert.equal(await shown.row('same.example').count(), count);
  } finally {
    for (const webhook of added) await api.delete(`/webhooks/${webhook}`);
  }
});

describe('a webhook', () => {
  it('is shown as disabled also if its event does not arrive, with the reason of the service', async t => {
    const { api, page, shop, open } = await visit(t);
    const { id } = (await api.post('/webhooks', { url: 'https://silent.example/' })).body;
    t.after(() => api.delete(`/webhooks/${id}`));
    const release = await holdRequests(page, '**/events/stream*');
    const shown = await open(`/webhooks/${id}`);
    await shown.panel.getByRole('button', { name: 'Disable' }).click();
    await shown.panel.getByRole('button', { name: 'Enable' }).waitFor();
    release();
    await shown.panel.getByText('your server gets no events until you enable it').waitFor();
    await shop.app.db.run(`UPDATE webhooks SET disabled_at = 0, disabled_reason = 'Gone' WHERE id = ${id}`);
    await page.reload();
    await shown.panel.getByText(/^Disabled by the service .*: Gone$/).waitFor();
  });

  it('is added with a secret that is shown once, tested, disabled, changed and deleted', async t => {
    const { shop, page, watch, open } = await visit(t);
    const receiver = await Receiver.start();
    t.after(() => receiver.close());
    receiver.respondWith(500, {}, 'The shop is closed');
    const shown = await open('/webhooks');
    await page.evaluate(keepMessages);
    const dialog = shown.panel;
    await page.getByText('No webhooks yet').waitFor();
    await page.getByRole('link', { name: 'Add webhook' }).first().click();
    await shown.field('URL').fill(receiver.url);
    await dialog.getByLabel(/^Event types/).fill('category.*\n');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByText('It cannot be shown again').waitFor();
    assert.match(await dialog.getByLabel('Secret', { exact: true }).inputValue(), /^whsec_/);
    await dialog.locator('.panel-footer').getByRole('button', { name: 'Close' }).click();
    await shown.question.getByRole('button', { name: 'Close without copying' }).click();
    await dialog.waitFor({ state: 'detached' });
    const webhook = async () => (await shop.api.get('/webhooks')).body[0];
    assert.deepEqual((await webhook()).types, ['category.*']);

    // A test is attempted once. A failed attempt is shown with the response; after a redelivery so is the successful one.
    await shown.row(receiver.url).getByText(receiver.url).click();
    await dialog.getByRole('button', { name: 'Send a test' }).click();
    await dialog.getByRole('heading', { name: /^Webhook \d+ test$/ }).waitFor();
    await settle(shop);
    await dialog.getByText('The shop is closed').waitFor();
    await dialog.getByText(/^500 after \d+ ms$/).waitFor();
    await dialog.locator('.facts').getByText('Failed').waitFor();
    receiver.respondWith(204);
    await dialog.getByRole('button', { name: 'Redeliver' }).click();
    await shown.messages.getByText('is sent again').waitFor();
    await settle(shop);
    await dialog.getByText(/^204 after \d+ ms$/).waitFor();
    await dialog.locator('.facts').getByText('Delivered').waitFor();
    assert.equal(receiver.received.length, 2);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await shown
      .row(/^Webhook \d+ test/)
      .getByText('Delivered')
      .waitFor();
    await page.getByRole('link', { name: 'Webhook', exact: true }).click();
    await dialog.waitFor();
    await shop.api.post(`/webhooks/${(await webhook()).id}/test`);
    await page.goBack();
    // The next visit also has the delivery since.
    await eventually(() => shown.row(/^Webhook \d+ test/).count(), 2);
    await page.goForward();

    await dialog.getByRole('button', { name: 'Disable' }).click();
    await dialog.getByRole('button', { name: 'Enable' }).waitFor();
    await dialog.getByText('your server gets no events until you enable it').waitFor();
    assert.equal((await webhook()).enabled, false);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await shown.messages.filter({ hasText: 'disabled' }).getByText('Undo').last().click();
    await eventually(async () => (await webhook()).enabled, true);

    await shown.row(receiver.url).getByText(receiver.url).click();
    await shown.field('Description').fill('For the shop');
    await shown.save();
    await dialog.waitFor({ state: 'detached' });
    assert.equal((await webhook()).description, 'For the shop');

    await shown.row(receiver.url).getByText('For the shop').click();
    for (const question of ['Replay', 'Rotate the secret', 'Delete']) {
      await dialog.getByRole('button', { name: question, exact: true }).click();
      await shown.question.waitFor();
      await page.keyboard.press('Escape');
      await shown.question.waitFor({ state: 'detached' });
    }
    await shown.delete(watch);
    await page.getByText('No webhooks yet').waitFor();
    assert.equal(await webhook(), undefined);
  });

  it('gets events again by a replay, but none by the end of one', async t => {
    const { shop, page, open } = await visit(t);
    const receiver = await Receiver.start();
    t.after(() => receiver.close());
    const { status } = await shop.api.post('/webhooks', { url: receiver.url, types: ['category.*'] });
    assert.equal(status, 201);
    await aCategory(shop.api, { name: 'Sent once' });
    shop.clock.advance(2 * MINUTE);
    await aCategory(shop.api, { name: 'Sent twice' });
    await settle(shop);
    assert.equal(receiver.received.length, 2);
    const { time } = receiver.received[1]!.event;
    // As a field for dates and times has it.
    const since = time.slice(0, 16);

    const shown = await open('/webhooks');
    await shown.row(receiver.url).getByText(receiver.url).click();
    await shown.panel.getByRole('button', { name: 'Replay' }).click();
    const field = shown.question.getByLabel('Since');
    const DAY = 24 * 60 * MINUTE;
    const offered = Date.parse(await field.inputValue());
    assert.ok(Math.abs(offered + DAY - shop.clock.now()) < 60 * MINUTE, 'a day ago is offered');
    await field.fill('');
    await shown.question.getByRole('button', { name: 'Replay', exact: true }).click();
    await shown.question.getByText('Choose a date and a time').waitFor();
    await field.fill('2090-01-02T10:00');
    await shown.question.getByRole('button', { name: 'Replay', exact: true }).click();
    await shown.question.getByText('There are no events since then').waitFor();
    await field.fill(since);
    await shown.question.getByRole('button', { name: 'Replay', exact: true }).click();
    await shown.messages.getByText(/^The events since .* are sent again$/).waitFor();
    await settle(shop);
    await eventually(async () => receiver.received.length, 3);
    assert.equal(receiver.received[2]!.event.data.name, 'Sent twice');

    await shown.panel.getByRole('button', { name: 'Replay' }).click();
    await shown.question.getByText('This also skips newer events that have no delivery yet.').waitFor();
    await shown.question.getByRole('button', { name: 'End a replay that is running' }).click();
    await shown.messages.getByText('No replay is running. Events without a delivery are skipped').waitFor();
    await settle(shop);
    assert.equal(receiver.received.length, 3);

    // The next visit of the list shows that deliveries fail, which no event reports.
    receiver.respondWith(500);
    const failing = await aCategory(shop.api, { name: 'Not received' });
    await settle(shop);
    // It waits for the delivery before it, without an attempt.
    await shop.api.patch(`/categories/${failing}`, { description: 'Later' });
    await settle(shop);
    await page.keyboard.press('Escape');
    const pages = page.getByRole('navigation');
    await pages.getByRole('link', { name: 'Categories' }).click();
    await shown.row('Not received').waitFor();
    await pages.getByRole('link', { name: 'Webhooks' }).click();
    await shown.row(receiver.url).getByText('First failed').waitFor();
    await shown.row(receiver.url).getByText(receiver.url).click();
    await shown.panel
      .locator('.alert')
      .getByText(/^500 after \d+ ms/)
      .waitFor();
  });

  it('shows what a key without its events has changed, also if the list was read before the service had it', async t => {
    const { shop, page, open } = await visit(t);
    const { key } = await shop.clientWith({ scopes: ['webhooks:write', 'events:read', 'pets:read'] });
    const url = 'https://late.example/';
    assert.equal((await shop.api.as(key).post('/webhooks', { url, types: ['pet.*'] })).status, 201);
    const shown = await open('/webhooks', key);
    await shown.row(url).getByText(url).click();
    const release = await holdRequests(page, '**/webhooks/*', request => request.method() === 'PATCH');
    await shown.panel.getByRole('button', { name: 'Disable' }).click();
    await shown.row(url).getByText('Disabled').waitFor();
    await page.keyboard.press('Escape');
    const pages = page.getByRole('navigation');
    await pages.getByRole('link', { name: 'Categories' }).click();
    await page.getByRole('heading', { name: 'Categories', level: 1 }).waitFor();
    await pages.getByRole('link', { name: 'Webhooks' }).click();
    await shown.row(url).getByText('Enabled').waitFor();
    release();
    await shown.messages.getByText('The webhook is disabled').waitFor();
    await shown.row(url).getByText('Disabled').waitFor();
  });

  it('that is disabled gets the events of a replay when it is enabled, as the message says', async t => {
    const { shop, open } = await visit(t);
    const receiver = await Receiver.start();
    t.after(() => receiver.close());
    const { body } = await shop.api.post('/webhooks', {
      ...{ url: receiver.url, types: ['category.*'], enabled: false },
    });
    await aCategory(shop.api, { name: 'Missed' });
    await shop.app.db.numberEvents();
    const shown = await open(`/webhooks/${body.id}`);
    await shown.panel.getByRole('button', { name: 'Replay' }).click();
    await shown.question.getByRole('button', { name: 'Replay', exact: true }).click();
    await shown.messages.getByText(/^The events since .* are sent when you enable the webhook$/).waitFor();
    await settle(shop);
    assert.equal(receiver.received.length, 0);
    await shown.panel.getByRole('button', { name: 'Enable' }).click();
    await shown.panel.getByRole('button', { name: 'Disable' }).waitFor();
    await settle(shop);
    const isReceived = async () => receiver.received.some(({ event }) => event.data.name === 'Missed');
    await eventually(isReceived, true);
  });

  it('whose secret has leaked gets no more deliveries that are signed with it after a rotation', async t => {
    const { shop, open } = await visit(t);
    const receiver = await Receiver.start();
    t.after(() => receiver.close());
    const { body } = await shop.api.post('/webhooks', { url: receiver.url, types: ['category.*'] });
    const shown = await open(`/webhooks/${body.id}`);
    await shown.panel.getByRole('button', { name: 'Rotate the secret' }).click();
    const grace = shown.question.getByLabel(/the earlier secret/);
    assert.equal(await grace.inputValue(), '86400', 'a day is offered');
    await grace.selectOption('0');
    await shown.question.getByRole('button', { name: 'Rotate' }).click();
    await shown.panel.getByText('It cannot be shown again').waitFor();
    await shown.panel.getByText('No delivery is signed with the earlier secret any more.').waitFor();
    await aCategory(shop.api);
    await settle(shop);
    const [{ headers }] = receiver.received as [Received];
    assert.match(headers['webhook-signature']!, /^v1,\S+$/, 'one signature');
  });
});
