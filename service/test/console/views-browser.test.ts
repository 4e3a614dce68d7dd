import { before, describe, it } from 'node:test';
import { eventually, useBrowser } from '../support/browser.ts';
import { buildConsole, ConsolePage } from '../support/console-page.ts';

const visit = useBrowser();
before(buildConsole);

describe('a saved view', () => {
  it('has the filters and the order under a name, survives a reload, and its deletion is undone', async t => {
    const shown = await ConsolePage.open(await visit(t), '/animals?status=sold&sort=-name');
    const { page } = shown;
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

  it('needs a filter or an order', async t => {
    const shown = await ConsolePage.open(await visit(t));
    await shown.button('Views').click();
    await shown.page.getByText('Choose filters or a sort order first').waitFor();
  });
});
