import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually, useBrowser, type Visit } from '../support/browser.ts';
import { buildConsole, ConsolePage } from '../support/console-page.ts';
import { aCategory } from '../support/factories.ts';

const visit = useBrowser();
before(buildConsole);

const choose = (page: Page, name: string, content: string | Buffer) =>
  page.getByLabel('CSV file').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content) });

const rowsOf = (count: number, categoryId: number) =>
  `name,categoryId\n${Array.from({ length: count }, (_, i) => `Row ${i},${categoryId}\n`).join('')}`;

async function countIn(visited: Visit, categoryId: number): Promise<number> {
  const { headers } = await visited.shop.api.get(`/pets?categoryId=${categoryId}&count=true&limit=1`);
  return Number(headers['x-total-count']);
}

/** The page of imports for a key with 30 requests a minute, in a page whose clock the test moves. */
async function openWithLimit(visited: Visit) {
  const { key } = await visited.shop.clientWith({
    plan: 'enterprise',
    quotas: { perMinute: 30, perDay: 10_000 },
  });
  const page = await (await visited.anotherVisitor()).newPage();
  await page.clock.install();
  await ConsolePage.openIn(page, '/import', key);
  return page;
}

describe('an import', () => {
  it('writes once after a double click', async t => {
    const visited = await visit(t);
    const categoryId = await aCategory(visited.shop.api);
    const { page } = await ConsolePage.open(visited, '/import');
    await choose(page, 'twice.csv', rowsOf(3, categoryId));
    const button = page.getByRole('button', { name: 'Import 3 rows' });
    await button.evaluate(element => {
      element.click();
      element.click();
    });
    await page.getByText('Created 3 animals, rejected 0 rows.').waitFor();
    assert.equal(await countIn(visited, categoryId), 3);
  });

  it('waits at the limit, and continues in the next minute', async t => {
    const visited = await visit(t);
    const categoryId = await aCategory(visited.shop.api);
    const page = await openWithLimit(visited);
    await choose(page, 'limited.csv', rowsOf(40, categoryId));
    await page.getByRole('button', { name: 'Import 40 rows' }).click();
    await page.locator('.banner').waitFor();
    const done = await countIn(visited, categoryId);
    assert.ok(done > 0 && done < 40, `${done} rows were imported before the limit`);
    // Half of the requests of a minute are left to the lists, so it takes some minutes.
    await eventually(async () => {
      visited.shop.clock.advance(60_000);
      await page.clock.fastForward(80_000);
      return countIn(visited, categoryId);
    }, 40);
    await page.getByText('Created 40 animals, rejected 0 rows.').waitFor();
  });

  it('is stopped while it waits for the limit, and offers the rows that were not reached', async t => {
    const visited = await visit(t);
    const categoryId = await aCategory(visited.shop.api);
    const page = await openWithLimit(visited);
    await choose(page, 'stopped.csv', rowsOf(40, categoryId));
    await page.getByRole('button', { name: 'Import 40 rows' }).click();
    await page.locator('.banner').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText(/^Created \d+ animals, rejected \d+ rows\.$/).waitFor();
    const done = await countIn(visited, categoryId);
    assert.ok(done > 0 && done < 40);
    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: `Download ${40 - done} rows` }).click();
    const rejected = await text(await (await started).createReadStream());
    assert.match(rejected, new RegExp(`,stopped,The import was stopped before this row,Row ${done},`));
  });

  it('ends when the user signs out', async t => {
    const visited = await visit(t);
    const categoryId = await aCategory(visited.shop.api);
    const { page } = await ConsolePage.open(visited, '/import');
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/batch', async route => {
      await isReleased;
      await route.continue();
    });
    await choose(page, 'long.csv', rowsOf(250, categoryId));
    await page.getByRole('button', { name: 'Import 250 rows' }).click();
    await page.getByText('0 of 250 rows done').waitFor();
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByText('Sign out').click();
    await page.getByLabel('API key').waitFor();
    const sent = page.waitForResponse('**/batch');
    release();
    await (await sent).finished();
    // What would be sent next is sent before a request that is made now.
    await page.evaluate("fetch('/healthz').then(response => response.text())");
    assert.equal(await countIn(visited, categoryId), 100, 'only the batch that was sent');
  });

  it('warns before the tab closes, on every page and only while it runs', async t => {
    const visited = await visit(t);
    const categoryId = await aCategory(visited.shop.api);
    const { page } = await ConsolePage.open(visited, '/import');
    const warns = () =>
      page.evaluate("!window.dispatchEvent(new Event('beforeunload', { cancelable: true }))");
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/batch', async route => {
      await isReleased;
      await route.continue();
    });
    assert.equal(await warns(), false);
    await choose(page, 'warn.csv', rowsOf(1, categoryId));
    await page.getByRole('button', { name: 'Import 1 row' }).click();
    await page.getByText('0 of 1 row done').waitFor();
    await page.getByRole('link', { name: 'Today' }).click();
    await page.getByRole('heading', { name: 'Today' }).waitFor();
    assert.equal(await warns(), true);
    release();
    await page.locator('.toasts').getByText('Imported 1 animal').waitFor();
    assert.equal(await warns(), false);
  });
});

describe('the file of an import', () => {
  it('is rejected at once if it is too large, and a text without lines or another format as well', async t => {
    const { page } = await ConsolePage.open(await visit(t), '/import');
    const drop = (name: string, megabytes: number, letter: string) =>
      page.locator('.drop-zone').evaluate(
        (zone, [name, megabytes, letter]) => {
          const { DataTransfer, DragEvent, File } = zone.ownerDocument.defaultView;
          const dataTransfer = new DataTransfer();
          const part = letter.repeat(1024 * 1024);
          dataTransfer.items.add(
            new File(
              Array.from({ length: megabytes }, () => part),
              name,
            ),
          );
          zone.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }));
        },
        [name, megabytes, letter] as const,
      );
    await drop('huge.csv', 200, 'x');
    await page.getByText('huge.csv has more than 10 MB: split it').waitFor();
    await drop('one-line.json', 9, '"x",');
    await page.getByText(/one-line\.json has more than 10 MB/).waitFor();
    await drop('one-line.txt', 9, 'x');
    await page.getByText(/one-line\.txt is not a valid CSV file.*a row is too long/).waitFor();
    await choose(page, 'animals.xlsx', Buffer.from([0x50, 0x4b, 0x03, 0x04, 0xff, 0xfe, 0x00]));
    await page.getByText(/animals\.xlsx is not UTF-8 text: save it as/).waitFor();
    const umlaut = Buffer.concat([
      Buffer.from('name,category\nB'),
      Buffer.from([0xe4]),
      Buffer.from('r,Dogs\n'),
    ]);
    await choose(page, 'windows-1252.csv', umlaut);
    await page.getByText(/windows-1252\.csv is not UTF-8 text: save it as “CSV UTF-8”/).waitFor();
  });

  it('does not replace the console when it is dropped elsewhere, and is one file', async t => {
    const { page } = await ConsolePage.open(await visit(t), '/import');
    /** Drops two files. Returns whether the console has kept the browser from showing them. */
    const dropOn = (place: string) =>
      page.locator(place).evaluate(element => {
        const { DataTransfer, DragEvent, File } = element.ownerDocument.defaultView;
        const dataTransfer = new DataTransfer();
        for (const name of ['one.csv', 'two.csv'])
          dataTransfer.items.add(new File(['name,category\nRex,Dogs\n'], name));
        return ['dragover', 'drop'].every(
          type =>
            !element.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer })),
        );
      });
    assert.ok(await dropOn('h1'));
    assert.ok(await dropOn('.drop-zone'));
    await page.getByText('These are 2 files: drop one at a time').waitFor();
    await choose(page, 'one.csv', Buffer.from('name,category\nRex,Dogs\n'));
    await page.getByRole('heading', { name: 'one.csv' }).waitFor();
    assert.ok(await dropOn('h1'), 'also while the columns are chosen');
  });

  it('can have a byte order mark, semicolons, quotes and line breaks, and its rejected rows open as UTF-8', async t => {
    const visited = await visit(t);
    const { api } = visited.shop;
    const categoryId = await aCategory(api, { name: 'Bären; große' });
    const { page } = await ConsolePage.open(visited, '/import');
    const rows = [
      '\uFEFFname;category;note',
      '"Ursa ""die"" Bärin";"Bären; große";"a\r\nb"',
      'Äffchen;Keine;',
    ];
    await choose(page, 'bären.csv', rows.join('\r\n'));
    await page.getByText('1 of 2 rows can be imported').waitFor();
    await page.getByText('Line 4').waitFor();
    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download 1 row' }).click();
    const download = await started;
    assert.equal(download.suggestedFilename(), 'bären.rejected.csv');
    const bytes = Buffer.concat(await (await download.createReadStream()).toArray());
    assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf]);
    await page.getByRole('button', { name: 'Import 1 row' }).click();
    await page.getByText('Created 1 animal').waitFor();
    const [pet] = (await api.get(`/pets?categoryId=${categoryId}`)).body;
    assert.equal(pet.name, 'Ursa "die" Bärin');
  });

  it('is the one that was chosen last, even if it is read first', async t => {
    const { page } = await ConsolePage.open(await visit(t), '/import');
    await page.locator('.drop-zone').evaluate(zone => {
      const window = zone.ownerDocument.defaultView;
      const { DataTransfer, DragEvent, File } = window;
      const drop = (name: string) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File(['name,category\nRex,Dogs\n'], name));
        zone.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }));
      };
      const { arrayBuffer } = File.prototype;
      // The first file is read when the test says so.
      File.prototype.arrayBuffer = async function () {
        File.prototype.arrayBuffer = arrayBuffer;
        await new Promise(resolve => {
          window.readFirst = resolve;
        });
        return arrayBuffer.call(this);
      };
      drop('first.csv');
      drop('last.csv');
    });
    await page.getByText('0 of 1 row can be imported').waitFor();
    await page.evaluate(`readFirst(); new Promise(resolve => {
      // More tasks than reading a file takes.
      const next = count => (count > 0 ? setTimeout(next, 0, count - 1) : resolve());
      next(20);
    })`);
    await page.getByRole('heading', { name: 'last.csv' }).waitFor();
  });

  it('is checked again after another mapping, and what is imported has the last one', async t => {
    const visited = await visit(t);
    const { api } = visited.shop;
    const categoryId = await aCategory(api);
    const { page } = await ConsolePage.open(visited, '/import');
    await choose(page, 'map.csv', `nickname,name,categoryId\nWanted,Other,${categoryId}\n`);
    await page.getByText('1 of 1 row can be imported').waitFor();
    await page.getByLabel('Field of nickname').selectOption('name');
    await page.getByText('Two columns are the field name: leave one out').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Import 1 row' }).count(), 0);
    await page.getByLabel('Field of name', { exact: true }).selectOption('');
    await page.getByRole('button', { name: 'Import 1 row' }).click();
    await page.getByText('Created 1 animal').waitFor();
    const pets = (await api.get(`/pets?categoryId=${categoryId}`)).body;
    assert.deepEqual(
      pets.map(({ name }: { name: string }) => name),
      ['Wanted'],
    );
  });
});
