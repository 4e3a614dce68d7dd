import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually, keepMessages } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { holdRequests } from '../support/page-requests.ts';

const visit = useConsole();

describe('a panel', () => {
  it('keeps what was typed when Escape is pressed twice, and offers it when it opens again, also after a reload', async t => {
    const { api, page, open } = await visit(t);
    await aCategory(api);
    const shown = await open('/animals/new');
    await shown.field('Name').fill('Typed for a while');
    // Two requests to close in a row: the second one closes a dialog of Chromium without a question.
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await shown.panel.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('link', { name: 'Add animal' }).first().click();
    assert.equal(await shown.field('Name').inputValue(), 'Typed for a while');
    await shown.panel.getByText('Your unsaved changes are back').waitFor();
    await shown.panel.getByRole('button', { name: 'Discard them' }).click();
    assert.equal(await shown.field('Name').inputValue(), '');
    await shown.panel.getByText('Your unsaved changes are back').waitFor({ state: 'detached' });
  });

  it('asks about a secret that was not copied, however often Escape is pressed', async t => {
    const { page, open } = await visit(t);
    const shown = await open('/keys/new');
    await shown.field('Name').fill('Escaped');
    await shown.panel.getByRole('button', { name: 'Create' }).click();
    const secret = await shown.panel.getByLabel('Secret', { exact: true }).inputValue();
    // Open, closed, open again.
    for (let i = 0; i < 5; i++) await page.keyboard.press('Escape');
    await shown.question.getByText('cannot be shown again').waitFor();
    await shown.question.getByRole('button', { name: 'Back to the secret' }).click();
    assert.equal(await shown.panel.getByLabel('Secret', { exact: true }).inputValue(), secret);
  });

  it('is shown again with its question when the browser itself has closed it', async t => {
    const { open } = await visit(t);
    const shown = await open('/keys/new');
    await shown.field('Name').fill('Closed by the browser');
    await shown.panel.getByRole('button', { name: 'Create' }).click();
    await shown.panel.getByLabel('Secret', { exact: true }).waitFor();
    // What a phone does when the user goes back twice.
    await shown.page.evaluate("document.querySelector('dialog.panel').close()");
    await shown.question.getByText('cannot be shown again').waitFor();
    await shown.question.getByRole('button', { name: 'Back to the secret' }).click();
    assert.ok(await shown.panel.getByLabel('Secret', { exact: true }).isVisible());
  });

  it('leaves the message of an action reachable, with its button to undo', async t => {
    const { api, open } = await visit(t);
    const first = await aPet(api, { name: 'Undone below a panel' });
    await aPet(api, { name: 'Undone second' });
    const shown = await open('/animals?q=undone');
    await shown.page.evaluate(keepMessages);
    await shown.button('Status of Undone below a panel: Available').click();
    await shown.page.getByRole('menuitemradio', { name: /^On hold/ }).click();
    await shown.messages.getByRole('button', { name: 'Undo' }).waitFor();
    await shown.edit('Undone second');
    // In a form the user means what was typed or chosen there.
    for (const field of ['Name', 'Category']) await shown.field(field).press('Control+z');
    await shown.field('Name').fill('Typed');
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await shown.messages.getByText(/^Undone: /).waitFor();
    await eventually(async () => (await api.get(`/pets?id=${first}`)).body[0].status, 'available');
    assert.equal(await shown.field('Name').inputValue(), 'Typed', 'the panel is still open');
    // And after it closes.
    await shown.panel.locator('footer').getByRole('button', { name: 'Close' }).click();
    await shown.panel.waitFor({ state: 'detached' });
    await shown.messages.getByRole('button', { name: 'Dismiss' }).first().click();
    await shown.messages.getByText(/^Undone: /).waitFor({ state: 'detached' });
  });

  it('keeps the focus on its button while what was sent runs, and after the service has rejected it', async t => {
    const { api, page, watch, open } = await visit(t);
    const pet = await aPet(api, { name: 'Sent in vain' });
    watch.expect(/status of 400/);
    const shown = await open(`/animals/${pet}`);
    const save = shown.panel.getByRole('button', { name: 'Save' });
    await shown.field('Name').fill(' ');
    const release = await holdRequests(page, `**/pets/${pet}`);
    await save.press('Enter');
    const busy = shown.panel.getByRole('button', { name: 'Save …', disabled: true });
    await busy.and(page.locator(':focus')).waitFor();
    release();
    await shown.panel.getByText('Enter a name').waitFor();
    await save.and(page.locator(':focus')).waitFor();
  });

  it('stays open after a double click on what opens it, and closes after a click outside', async t => {
    const { api, page, open } = await visit(t);
    await aPet(api, { name: 'Clicked twice' });
    const shown = await open('/animals?q=clicked');
    const dialog = page.locator('dialog[open]');
    for (const opener of [
      shown.row('Clicked twice').getByText('Clicked twice'),
      shown.button('Sell'),
      shown.page.getByRole('button', { name: /^Find/ }),
    ]) {
      // Its code is loaded: the dialog is there when the second click arrives.
      await opener.click();
      await dialog.waitFor();
      const backdrop = { x: 5, y: 400 };
      await dialog.dispatchEvent('click', { detail: 2, bubbles: true });
      await page.evaluate('new Promise(requestAnimationFrame)');
      assert.equal(await dialog.count(), 1);
      await page.mouse.click(backdrop.x, backdrop.y);
      await dialog.waitFor({ state: 'detached' });
    }
  });

  it('gives the focus back to its row when the user goes back from a question in it', async t => {
    const { api, page, open } = await visit(t);
    await aPet(api, { name: 'Left by Back' });
    const shown = await open('/animals?q=left');
    await shown.row('Left by Back').getByText('Left by Back').click();
    await shown.panel.getByRole('button', { name: 'Delete' }).click();
    await shown.question.waitFor();
    await page.goBack();
    await shown.panel.waitFor({ state: 'detached' });
    await eventually(() => page.evaluate("document.activeElement.closest('[data-index]') !== null"), true);
  });

  it('closes a menu in it first, and then itself', async t => {
    const { api, open } = await visit(t);
    await aPet(api, { name: 'Menu in a panel' });
    const shown = await open('/animals?q=menu');
    await shown.edit('Menu in a panel');
    await shown.panel.getByRole('button', { name: /^Status of/ }).click();
    const menu = shown.page.locator('[role="menu"]:popover-open');
    await menu.waitFor();
    await shown.page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
    await shown.panel.waitFor();
    await shown.page.keyboard.press('Escape');
    await shown.panel.waitFor({ state: 'detached' });
  });
});

it('the menu of actions to undo keeps the focus on the action that has it when a later one ends meanwhile', async t => {
  const { api, page, open } = await visit(t);
  const [first, second] = [await aPet(api, { name: 'Menu first' }), await aPet(api, { name: 'Menu second' })];
  const shown = await open('/animals?q=menu');
  const hold = async (name: string) => {
    await shown.button(`Status of ${name}: Available`).press('Enter');
    await page.getByRole('menuitemradio', { name: /^On hold/ }).press('Enter');
  };
  await hold('Menu first');
  await shown.button('Undo a recent action').waitFor();
  const release = await holdRequests(page, `**/pets/${second}`);
  await hold('Menu second');
  await shown.button('Undo a recent action').press('Enter');
  await page
    .getByRole('menuitem', { name: 'Undo: Menu first is on hold' })
    .and(page.locator(':focus'))
    .waitFor();
  release();
  await page.getByRole('menuitem', { name: 'Undo: Menu second is on hold' }).waitFor();
  await page.keyboard.press('Enter');
  await shown.messages.getByText('Undone: Menu first is on hold').waitFor();
  for (const [id, status] of [
    [first, 'available'],
    [second, 'pending'],
  ] as const)
    assert.equal((await api.get(`/pets?id=${id}`)).body[0].status, status);
});

it('the menu of actions to undo has the focus when the action that had it can no longer be undone', async t => {
  const { api, page, open } = await visit(t);
  const added = async (name: string) => {
    await page.getByRole('link', { name: 'Add category' }).first().click();
    await shown.field('Name').fill(name);
    await shown.panel.getByRole('button', { name: 'Add' }).click();
    await shown.panel.waitFor({ state: 'detached' });
  };
  const shown = await open('/categories?name=withdrawn');
  await shown.live();
  await added('Withdrawn first');
  await added('Withdrawn second');
  await shown.button('Undo a recent action').press('Enter');
  const items = page.getByRole('menuitem', { name: /^Undo: .*Withdrawn/ });
  await items.filter({ hasText: 'second' }).and(page.locator(':focus')).waitFor();
  const [{ id }] = (await api.get('/categories?name=withdrawn%20second')).body;
  assert.equal((await api.patch(`/categories/${id}`, { name: 'Changed elsewhere' })).status, 200);
  await items.filter({ hasText: 'second' }).waitFor({ state: 'detached' });
  await page.keyboard.press('ArrowDown');
  await items.filter({ hasText: 'first' }).and(page.locator(':focus')).waitFor();
});
