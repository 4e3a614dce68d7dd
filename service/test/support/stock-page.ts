import type { ConsoleVisit } from './console-page.ts';
import { aCategory, aPet } from './factories.ts';

/** Opens the stock of a new category, with pets of these numbers of units. */
export async function openStock(visited: ConsoleVisit, units: Record<string, number>) {
  const { api, open } = visited;
  const categoryId = await aCategory(api);
  const ids: Record<string, number> = {};
  for (const [name, stock] of Object.entries(units)) ids[name] = await aPet(api, { name, stock, categoryId });
  const shown = await open(`/stock?categoryId=${categoryId}`);
  await shown.row(Object.keys(units)[0]!).waitFor();
  const names = () => shown.page.locator('[data-index] [data-column="animal"]').allTextContents();
  return { ...visited, shown, ids, names };
}
