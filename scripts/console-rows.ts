// Measures the list of animals in the console with all of its rows loaded, and an import: memory, frames, and the longest tasks.
//   node scripts/console-rows.ts [ROWS [IMPORTED_ROWS]]
// The service and its store are temporary.
import type { CDPSession, Page } from 'playwright-core';
import { buildConsole, ConsolePage } from '../service/test/support/console-page.ts';
import { aCategory } from '../service/test/support/factories.ts';
import { openBrowser } from '../service/test/support/launch-browser.ts';
import { startTestApp } from '../service/test/support/test-app.ts';

const [rows = 100_000, imported = 50_000] = process.argv.slice(2).map(Number);
/** The most operations of a batch. */
const BATCH = 1_000;
const ROW = 52;
/** The most memory of the page with all rows, in MB. */
const MOST_HEAP = 60;
const print = (line: string) => process.stdout.write(`${line}\n`);

await using resources = new AsyncDisposableStack();
const shop = await startTestApp(
  { after: (release: () => Promise<void>) => resources.defer(release) },
  { alone: false },
);
buildConsole();
const categoryId = await aCategory(shop.api, { name: 'Many' });
for (let from = 0; from < rows; from += BATCH) {
  const length = Math.min(BATCH, rows - from);
  const operations = Array.from({ length }, (_, i) => ({
    method: 'POST',
    path: '/pets',
    body: { name: `Animal ${from + i}`, categoryId },
  }));
  await shop.api.post('/batch', { operations });
}

const browser = await openBrowser();
resources.defer(() => browser.close());
const context = await browser.newContext({ baseURL: shop.origin, viewport: { width: 1280, height: 900 } });
const page = await context.newPage();
await page.addInitScript(`window.tasks = [];
  new PerformanceObserver(list => tasks.push(...list.getEntries().map(entry => Math.round(entry.duration))))
    .observe({ type: 'longtask' })`);
await ConsolePage.openIn(page, '/', shop.adminKey);
const devtools = await context.newCDPSession(page);
print(`Heap of Today: ${await heapOf(devtools)} MB`);

await page.getByRole('link', { name: 'Animals' }).click();
await page.getByRole('grid').waitFor();
const started = performance.now();
await page.evaluate(loadAll(rows));
const heap = await heapOf(devtools);
print(`Heap with ${rows} rows: ${heap} MB, all loaded after ${seconds(started)} s`);
const frames = (await page.evaluate(framesOf('body.scrollBy(0, 400)', 200))) as number[];
print(`Frame of a step of 400 px: median ${at(frames, 0.5)} ms, 95 %: ${at(frames, 0.95)} ms`);
const jumps = (await page.evaluate(
  framesOf(`body.scrollTo(0, Math.random() * ${rows * ROW})`, 100),
)) as number[];
print(`Frame of a jump to any row: median ${at(jumps, 0.5)} ms, 95 %: ${at(jumps, 0.95)} ms`);
await page.evaluate('tasks.length = 0');
await page.getByRole('checkbox', { name: 'Select all rows that are loaded' }).click();
await page.getByText(`${rows.toLocaleString('en')} selected`).waitFor();
print(`Select all: longest task ${await longestTask(page)} ms`);
await page.getByRole('button', { name: 'Clear' }).click();

await page.evaluate('tasks.length = 0');
const file = `name,categoryId,note\n${Array.from({ length: imported }, (_, i) => `Imported ${i},${categoryId},"a; note"\n`).join('')}`;
await page.getByRole('link', { name: 'Import' }).click();
const chosen = performance.now();
await page
  .getByLabel('CSV file')
  .setInputFiles({ name: 'many.csv', mimeType: 'text/csv', buffer: Buffer.from(file) });
const button = page.getByRole('button', { name: /^Import \d/ });
await button.waitFor();
print(
  `${imported} rows read and checked in ${seconds(chosen)} s, longest task ${await longestTask(page)} ms`,
);
await page.evaluate('tasks.length = 0');
const sent = performance.now();
await button.click();
await page.getByText('rejected 0 rows').waitFor({ timeout: 600_000 });
print(`Imported in ${seconds(sent)} s, longest task ${await longestTask(page)} ms`);
if (heap > MOST_HEAP) process.exitCode = 1;

/** Scrolls to the end until all rows are loaded. */
function loadAll(count: number): string {
  return `new Promise(resolve => {
    const grid = document.querySelector('[role=grid]');
    const body = document.querySelector('.table-body');
    const step = () => {
      if (Number(grid.ariaRowCount) > ${count}) return resolve();
      body.scrollTo(0, body.scrollHeight);
      setTimeout(step);
    };
    step();
  })`;
}

/** Runs a step in each of many frames, and returns the duration of each frame in milliseconds. */
function framesOf(step: string, count: number): string {
  return `new Promise(resolve => {
    const body = document.querySelector('.table-body');
    body.scrollTo(0, 0);
    const durations = [];
    let before;
    const frame = now => {
      if (before !== undefined) durations.push(now - before);
      before = now;
      if (durations.length === ${count}) return resolve(durations.sort((a, b) => a - b));
      ${step};
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  })`;
}

async function heapOf(devtools: CDPSession): Promise<number> {
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  return Math.round(usedSize / 1024 ** 2);
}

async function longestTask(page: Page): Promise<number> {
  return (await page.evaluate('Math.max(0, ...tasks)')) as number;
}

function at(sorted: readonly number[], part: number): number {
  return Math.round(sorted[Math.floor(sorted.length * part)]! * 10) / 10;
}

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 100) / 10;
}
