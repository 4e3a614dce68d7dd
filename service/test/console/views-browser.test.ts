import { describe, it } from 'node:test';
import { eventually } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';

const visit = useConsole();

describe('a saved view', () => {
  it('has the filters and the order under a name, survives a reload, and its deletion is undone', async t => {
    const { page, open } = await visit(t);
    const shown = await open('/animals?status=sold&sort=-name');
    const item = (text: string) =>
      page.locator('[role="menu"]:popover-open').locator('.menu-item').filter({ hasText: text });
    const search = async () => new URL(page.url()).search;
    await shown.button('Views').click();
    await item('Save as a view').click();
    await shown.question.getByLabel('Name of the view').fill('Sold, from Z');
    await shown.question.getByRole('button', { name: 'Save' }).click();
    await shown.button('Views: Sold, from Z').waitFor();

    await shown.button('All').click();
    await eventually(search, '?sort=-name');
    await page.reload();
    await shown.button('Views').click();
    await item('Sold, from Z').click();
    await eventually(search, '?status=sold&sort=-name');

    await shown.button('Views: Sold, from Z').click();
    await item('Delete the view').click();
    await shown.button('Views').waitFor();
    await shown.messages.getByText('Undo').click();
    await shown.button('Views: Sold, from Z').waitFor();
  });

  it('replaces one with its name, which is undone', async t => {
    const { page, open } = await visit(t);
    const shown = await open('/animals?status=sold');
    const item = (text: string) =>
      page.locator('[role="menu"]:popover-open').locator('.menu-item').filter({ hasText: text });
    const saveAs = async (name: string) => {
      await shown.button('Views').click();
      await item('Save as a view').click();
      await shown.question.getByLabel('Name of the view').fill(name);
      await shown.question.getByRole('button', { name: 'Save' }).click();
      await shown.button(`Views: ${name}`).waitFor();
    };
    await saveAs('Mine');
    await shown.button('On hold').click();
    await saveAs('Mine');
    await shown.messages.getByText('Replaced the view Mine').waitFor();
    await shown.messages.getByText('Undo').click();
    await shown.button('Views').click();
    await item('Mine').click();
    await eventually(async () => new URL(page.url()).search, '?status=sold');
  });

  it('needs a filter or an order', async t => {
    const { open } = await visit(t);
    const shown = await open();
    await shown.button('Views').click();
    await shown.page.getByText('Choose filters or a sort order first').waitFor();
  });
});
