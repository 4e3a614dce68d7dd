import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Request } from 'playwright-core';
import { eventually } from '../support/browser.ts';
import { type ConsolePage, useConsole } from '../support/console-page.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { delayResponses, holdRequests } from '../support/page-requests.ts';

const visit = useConsole();

const isSave = (request: Request) => request.method() === 'PATCH';

async function close({ page, panel }: ConsolePage): Promise<void> {
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
}

interface Timing {
  /** Whether events arrive. */
  isLive: boolean;
  /** Whether the response waits for `respond`. */
  isLate?: boolean;
}

/** Saves the name of a category, and closes its panel while the request runs. `arrive` lets the request continue. */
async function saveAndClose(t: TestContext, { isLive, isLate = false }: Timing) {
  const { api, shop, page, watch, open } = await visit(t);
  const id = await aCategory(api, { name: 'As it was' });
  t.after(() => api.delete(`/categories/${id}`));
  if (!isLive) await holdRequests(page, '**/events/stream*');
  const shown = await open(`/categories/${id}`);
  if (isLive) await shown.live();
  const name = shown.field('Name');
  const { arrive: respond } = await delayResponses(
    page,
    `**/categories/${id}`,
    request => isLate && isSave(request),
  );
  const release = await holdRequests(page, `**/categories/${id}`, isSave);
  await name.fill('Mine at first');
  const sent = page.waitForRequest(isSave);
  await shown.save();
  await sent;
  await close(shown);
  const arrive = async () => {
    release();
    await shown.messages.getByText('Saved Mine at first').waitFor();
  };
  /** Resolves when the panel has read the category again, because of an event. */
  const isRead = () =>
    page.waitForResponse(
      response => response.url().endsWith(`/categories/${id}`) && !isSave(response.request()),
    );
  const stored = async () => (await api.get(`/categories/${id}`)).body.name;
  return { shop, shown, watch, name, id, release, arrive, respond, isRead, stored };
}

async function saveAndOpenAgain(t: TestContext, timing: Timing) {
  const saved = await saveAndClose(t, timing);
  await saved.shown.go(`/categories/${saved.id}`);
  await saved.shown.panel.getByText('Your unsaved changes are back').waitFor();
  return saved;
}

describe('a panel that is opened again while it is being saved', () => {
  for (const isLive of [true, false])
    it(`takes these values for no change by another client, ${isLive ? 'when their event arrives' : 'also without their event'}`, async t => {
      const { shown, watch, name, arrive, isRead, stored } = await saveAndOpenAgain(t, { isLive });
      // Without the event, the form has the ETag of the version before.
      if (!isLive) watch.expect(/status of 412/);
      await name.fill('Mine at last');
      const read = isLive && isRead();
      await arrive();
      await read;
      await shown.save();
      await shown.panel.waitFor({ state: 'detached' });
      assert.equal(await stored(), 'Mine at last');
    });

  it('shows the saved values after what it had restored is discarded', async t => {
    const saved = await saveAndOpenAgain(t, { isLive: true, isLate: true });
    const { shown, name, release, respond, isRead } = saved;
    await shown.panel.getByRole('button', { name: 'Discard them' }).click();
    assert.equal(await name.inputValue(), 'As it was');
    const read = isRead();
    // Their event arrives before the response.
    release();
    await read;
    await eventually(() => name.inputValue(), 'Mine at first');
    respond();
    await shown.messages.getByText('Saved Mine at first').waitFor();
    assert.equal(await name.inputValue(), 'Mine at first');
  });

  it('takes these values for no change by another client when they were discarded, and something else was typed since', async t => {
    const { shown, watch, name, arrive, stored } = await saveAndOpenAgain(t, { isLive: false });
    await shown.panel.getByRole('button', { name: 'Discard them' }).click();
    await name.fill('Typed instead');
    await arrive();
    assert.equal(await name.inputValue(), 'Typed instead');
    assert.equal(await shown.panel.locator('.conflict').count(), 0);
    watch.expect(/status of 412/);
    await shown.save();
    await shown.panel.waitFor({ state: 'detached' });
    assert.equal(await stored(), 'Typed instead');
  });

  it('keeps what is typed into it when it is closed as well', async t => {
    const { shown, name, id, arrive, stored } = await saveAndOpenAgain(t, { isLive: true });
    await name.fill('Typed then');
    await close(shown);
    await arrive();
    await shown.go(`/categories/${id}`);
    assert.equal(await name.inputValue(), 'Typed then');
    await shown.save();
    await shown.panel.waitFor({ state: 'detached' });
    assert.equal(await stored(), 'Typed then');
  });

  it('shows what was saved after its draft is discarded', async t => {
    const { shown, name, arrive } = await saveAndOpenAgain(t, { isLive: true });
    await shown.panel.getByRole('button', { name: 'Discard them' }).click();
    assert.equal(await name.inputValue(), 'As it was');
    await arrive();
    await eventually(() => name.inputValue(), 'Mine at first');
    await close(shown);
    assert.equal(
      await shown.page.evaluate('JSON.stringify(sessionStorage).includes("console.draft")'),
      false,
    );
  });

  it('is no panel of the next user, for whom these values are a change by another client', async t => {
    const { shop, shown, name, id, release } = await saveAndClose(t, { isLive: true });
    const { page } = shown;
    await shown.button(/^Account/).click();
    await page.getByRole('menuitem', { name: /^Sign out/ }).click();
    await shown.signIn(shop.adminKey);
    await shown.go(`/categories/${id}`);
    await name.fill('Of the next user');
    await close(shown);
    const arrived = page.waitForResponse(response => isSave(response.request()));
    release();
    await arrived;
    await shown.go(`/categories/${id}`);
    await shown.panel.getByText('Changed elsewhere to Mine at first').waitFor();
  });
});

describe('a panel that is being saved', () => {
  it('keeps what is typed while it is saved, and takes no user back who has gone elsewhere', async t => {
    const { api, page, open } = await visit(t);
    const id = await aPet(api, { name: 'Hasty' });
    const shown = await open(`/animals/${id}`);
    await shown.live();
    const name = shown.field('Name');
    let release = await holdRequests(page, `**/pets/${id}`, isSave);
    await name.fill('Hasty one');
    await shown.save();
    await name.fill('Hasty one, more');
    release();
    await shown.messages.getByText('Saved Hasty one').waitFor();
    await shown.panel.getByRole('button', { name: 'Save', exact: true }).waitFor();
    assert.equal(await name.inputValue(), 'Hasty one, more');
    assert.equal(await shown.panel.locator('.conflict').count(), 0);
    assert.equal((await api.get(`/pets?id=${id}`)).body[0].name, 'Hasty one');

    release = await holdRequests(page, `**/pets/${id}`, isSave);
    await shown.save();
    await name.fill('Typed last');
    await page.keyboard.press('Escape');
    await shown.panel.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Stock' }).click();
    await page.getByRole('heading', { name: 'Stock' }).waitFor();
    release();
    await shown.messages.getByText('Saved Hasty one, more').waitFor();
    assert.equal(new URL(page.url()).pathname, '/console/stock');
    await shown.go(`/animals/${id}`);
    await eventually(() => name.inputValue(), 'Typed last');
  });

  it('keeps what is typed while a save is sent again after a change by another client', async t => {
    const { api, page, watch, open } = await visit(t);
    watch.expect(/status of 412/);
    const id = await aPet(api, { name: 'Overlapped' });
    const shown = await open(`/animals/${id}`);
    await shown.live();
    const name = shown.field('Name');
    const release = await holdRequests(page, `**/pets/${id}`, isSave);
    await name.fill('Overlapped one');
    await shown.save();
    await name.fill('Overlapped one, mo');
    assert.equal((await api.patch(`/pets/${id}`, { status: 'pending' })).status, 200);
    release();
    await shown.messages.getByText('Saved Overlapped one').waitFor();
    await shown.panel.getByRole('button', { name: 'Save', exact: true }).waitFor();
    assert.equal(await name.inputValue(), 'Overlapped one, mo');
    assert.equal(await shown.panel.locator('.conflict').count(), 0);
    const stored = (await api.get(`/pets?id=${id}`)).body[0];
    assert.deepEqual([stored.name, stored.status], ['Overlapped one', 'pending']);
  });

  it('is in no conflict with its own save, whose event arrives before its response', async t => {
    const { api, page, open } = await visit(t);
    const id = await aPet(api, { name: 'Echo' });
    const shown = await open(`/animals/${id}`);
    await shown.live();
    const name = shown.field('Name');
    const { read, arrive } = await delayResponses(page, `**/pets/${id}`, isSave);
    await name.fill('Echo one');
    const readAgain = page.waitForResponse(
      async response => response.request().method() === 'GET' && (await response.text()).includes('Echo one'),
    );
    await shown.save();
    await name.fill('Echo one, more');
    await read;
    await (await readAgain).finished();
    await page.evaluate(
      'new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
    );
    arrive();
    await shown.messages.getByText('Saved Echo one').waitFor();
    await shown.panel.getByRole('button', { name: 'Save', exact: true }).waitFor();
    assert.equal(await shown.panel.locator('.conflict').count(), 0);
    assert.equal(await name.inputValue(), 'Echo one, more');
    await shown.save();
    await shown.panel.waitFor({ state: 'detached' });
    assert.equal((await api.get(`/pets?id=${id}`)).body[0].name, 'Echo one, more');
  });
});

it('a panel takes what another client changes after its save, also before the response, for no change by the user', async t => {
  const { api, page, open } = await visit(t);
  const id = await aPet(api, { name: 'Before both' });
  const categoryId = await aCategory(api);
  const shown = await open(`/animals/${id}`);
  await shown.live();
  const { read, arrive: respond } = await delayResponses(page, `**/pets/${id}`, isSave);
  await shown.field('Name').fill('Mine first');
  await shown.save();
  await read;
  assert.equal((await api.patch(`/pets/${id}`, { categoryId })).status, 200);
  const category = () => shown.field('Category').inputValue();
  await eventually(category, String(categoryId));
  await shown.field('Name').fill('Mine first, then more');
  respond();
  await shown.messages.getByText('Saved Mine first').waitFor();
  await shown.panel.getByRole('button', { name: 'Save', exact: true }).waitFor();
  assert.equal(await category(), String(categoryId));
  // It has the newest ETag: a response with the status 412 would be a fault.
  await shown.save();
  await shown.panel.waitFor({ state: 'detached' });
});

for (const isChanged of [false, true])
  it(`a restored draft that is discarded while it is saved stays discarded${isChanged ? ', also if the save is sent again after a change by another client' : ''}`, async t => {
    const { api, page, watch, open } = await visit(t);
    if (isChanged) watch.expect(/status of 412/);
    await holdRequests(page, '**/events/stream*');
    const id = await aCategory(api, { name: 'Before the discard' });
    t.after(() => api.delete(`/categories/${id}`));
    const shown = await open(`/categories/${id}`);
    await shown.field('Name').fill('Restored and saved');
    await close(shown);
    await shown.go(`/categories/${id}`);
    const discard = shown.panel.getByRole('button', { name: 'Discard them' });
    await discard.waitFor();
    const release = await holdRequests(page, `**/categories/${id}`, isSave);
    const sent = page.waitForRequest(isSave);
    await shown.save();
    await sent;
    if (isChanged) await api.patch(`/categories/${id}`, { description: 'By another client' });
    await discard.click();
    release();
    await shown.messages.getByText('Saved Restored and saved').waitFor();
    await shown.panel.waitFor({ state: 'detached' });
  });

for (const how of ['chooses', 'types'] as const)
  it(`a panel keeps what the user ${how} after a change by another client, before the response to its save`, async t => {
    const { api, page, open } = await visit(t);
    const id = await aPet(api, { name: 'Before the choice' });
    const shown = await open(`/animals/${id}`);
    await shown.live();
    const name = shown.field('Name');
    const { read, arrive: respond } = await delayResponses(page, `**/pets/${id}`, isSave);
    const isOwn = how === 'types';
    // The own value arrives before the other one, or only the other one does.
    const release = isOwn ? () => {} : await holdRequests(page, `**/pets?id=${id}`);
    await name.fill('Mine');
    await shown.save();
    await read;
    if (isOwn) await shown.panel.getByRole('heading', { name: 'Mine', exact: true }).waitFor();
    await api.patch(`/pets/${id}`, { name: 'Theirs' });
    release();
    if (isOwn) {
      await eventually(() => name.inputValue(), 'Theirs');
      await name.fill('Mine');
    } else await shown.panel.getByRole('button', { name: 'Keep mine' }).click();
    respond();
    await shown.messages.getByText('Saved Mine').waitFor();
    await shown.panel.getByRole('button', { name: 'Save', exact: true }).waitFor();
    assert.equal(await name.inputValue(), 'Mine');
    await shown.save();
    await shown.panel.waitFor({ state: 'detached' });
    assert.equal((await api.get(`/pets?id=${id}`)).body[0].name, 'Mine');
  });
