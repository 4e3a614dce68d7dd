import { buffer } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import type { ConsoleVisit } from './console-page.ts';
import { aCategory } from './factories.ts';

/** The page of imports, with a new category. With `limited`, its key has 30 requests a minute, and the test moves its clock. */
export async function openImport(
  visited: ConsoleVisit,
  { name, limited = false }: { name?: string; limited?: boolean } = {},
) {
  const { api, shop, page: first, open, openWithClock } = visited;
  const categoryId = await aCategory(api, name === undefined ? {} : { name });
  let page = first;
  if (limited) {
    const quotas = { perMinute: 30, perDay: 10_000 };
    const { key } = await shop.clientWith({ plan: 'enterprise', quotas });
    ({ page } = await openWithClock('/import', { key }));
  } else await open('/import');
  const choose = (file: string, content: string | Buffer) =>
    page
      .getByLabel('CSV file')
      .setInputFiles({ name: file, mimeType: 'text/csv', buffer: Buffer.from(content) });
  return {
    ...{ api, shop, page, categoryId, choose },
    /** What a row of the preview has in a column. */
    cell: (field: string, line: number) => page.getByLabel(`${field} of line ${line}`),
    /** Chooses a file with so many rows, and imports it. */
    importRows: async (count: number) => {
      const lines = Array.from({ length: count }, (_, i) => `Row ${i},${categoryId}\n`);
      await choose('rows.csv', `name,categoryId\n${lines.join('')}`);
      await page.getByRole('button', { name: `Import ${count} row${count === 1 ? '' : 's'}` }).click();
    },
    /** Imports the rows that can be imported, and waits for the summary. */
    imported: async (rows: number, created = rows, rejected?: number) => {
      await page.getByRole('button', { name: `Import ${rows} ${rows === 1 ? 'row' : 'rows'}` }).click();
      const end = rejected === undefined ? '' : `, rejected ${rejected} ${rejected === 1 ? 'row' : 'rows'}.`;
      await page.getByText(`Created ${created} ${created === 1 ? 'animal' : 'animals'}${end}`).waitFor();
    },
    list: async () => (await api.get(`/pets?categoryId=${categoryId}&sort=name&limit=100`)).body,
    count: async () => {
      const { headers } = await api.get(`/pets?categoryId=${categoryId}&count=true&limit=1`);
      return Number(headers['x-total-count']);
    },
    download: async (button: string) => {
      const started = page.waitForEvent('download');
      await page.getByRole('button', { name: button }).click();
      const download = await started;
      // With the byte order mark, which `text` of a stream would remove.
      const bytes = await buffer(await download.createReadStream());
      return [download.suggestedFilename(), bytes.toString()] as const;
    },
  };
}

/** Drops files on a place of the page. Returns whether the console has kept the browser from showing them. */
export function drop(
  page: Page,
  place: string,
  files: readonly [name: string, part: string, times?: number][],
) {
  return page.locator(place).evaluate((element, files) => {
    const { DataTransfer, DragEvent, File } = element.ownerDocument.defaultView;
    const dataTransfer = new DataTransfer();
    for (const [name, part, times = 1] of files)
      dataTransfer.items.add(new File(Array(times).fill(part), name));
    return ['dragover', 'drop'].every(
      type => !element.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer })),
    );
  }, files);
}
