import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { STRICT_NAME } from '../../src/contract/display-text.ts';
import { MINUTE } from '../../src/kit/clock.ts';
import { aPet } from '../support/factories.ts';
import { type ImportShop, startImportShop, useImportShop } from '../support/import-shop.ts';
import { sized } from '../support/long.ts';
import { isFormula, spreadsheetCells } from '../support/spreadsheet.ts';

const test = useImportShop();

it('petstore export writes orders, categories and stock', async () => {
  const { body } = await test.shop.api.post('/pets', { name: 'Ordered', categoryId: 1 });
  await test.shop.api.post('/store/orders', { petId: body.id, shipDate: '2027-01-02T03:04:05Z' });
  const orders = await test.run(['export', 'orders']);
  assert.match(
    orders.stdout,
    /^id,petId,quantity,shipDate,complete\n\d+,\d+,1,2027-01-02T03:04:05.000Z,false\n$/,
  );
  const categories = await test.run(['export', 'categories', '--json']);
  assert.deepEqual(JSON.parse(categories.stdout.split('\n')[0]!), { id: 1, name: 'Dogs' });
  const stock = await test.run(['export', 'stock', '--fields', 'status,petId']);
  assert.match(stock.stdout, /^status,petId\n(?:\w+,\d+\n)+$/);
});

/** The list of categories has a second page from now on, and every request after that for the first page is rejected. */
function rejectSecondPage(t: TestContext): void {
  const { fetch } = globalThis;
  let isFirst = true;
  t.mock.method(globalThis, 'fetch', async (...request: Parameters<typeof fetch>) => {
    const response = await fetch(...request);
    // The command sends its requests to a proxy, which forwards them.
    if (!String(request[0]).startsWith(test.shop.origin)) return response;
    const status = 403;
    if (!isFirst)
      return Response.json({ code: 'insufficient_scope', status, message: 'Made up' }, { status });
    isFirst = false;
    return Response.json(await response.json(), {
      headers: { link: '</categories?cursor=more>; rel="next"' },
    });
  });
}

it('petstore export says that its output is incomplete when it fails later, and writes nothing when it fails at once', async t => {
  rejectSecondPage(t);
  const later = await test.run(['export', 'categories']);
  assert.equal(later.code, 3);
  assert.match(later.stdout, /^id,name,description\n1,Dogs,/);
  assert.match(later.stderr, /^The output is incomplete: it has \d+ of the categories\nError: Made up/);
  const atOnce = await test.run(['export', 'categories']);
  assert.deepEqual([atOnce.code, atOnce.stdout], [3, '']);
  assert.match(atOnce.stderr, /^Error: Made up/);
});

it('petstore export pets --stock has the status of the stock, and leaves out a pet that is deleted or gets another status meanwhile', async t => {
  const { api } = test.shop;
  const exported = async (...options: string[]) => {
    const [kept, gone, sold] = [
      await aPet(api, { name: 'Kept', stock: 2 }),
      await aPet(api, { name: 'Gone', stock: 3 }),
      await aPet(api, { name: 'Sold', stock: 4 }),
    ];
    const { fetch } = globalThis;
    // The proxy of the command forwards the request for the stock after the one for the pets.
    const proxy = t.mock.method(globalThis, 'fetch', async (...request: Parameters<typeof fetch>) => {
      if (String(request[0]).includes('/store/inventory')) {
        await api.delete(`/pets/${gone}`);
        await api.put(`/store/inventory/${sold}`, { quantity: 0 });
      }
      return fetch(...request);
    });
    const { stdout } = await test.run(['export', 'pets', '--stock', '--format', 'ndjson', ...options]);
    proxy.mock.restore();
    const pets = stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    return pets.filter(({ id }) => id >= kept).map(({ name, status, quantity }) => [name, status, quantity]);
  };
  assert.deepEqual(await exported(), [
    ['Kept', 'available', 2],
    ['Sold', 'sold', 0],
  ]);
  assert.deepEqual(await exported('--status', 'available'), [['Kept', 'available', 2]]);
});

it('petstore export pets has the name of a category that is created meanwhile', async t => {
  const { api } = test.shop;
  const { fetch } = globalThis;
  let id: number | undefined;
  t.mock.method(globalThis, 'fetch', async (...request: Parameters<typeof fetch>) => {
    if (id === undefined && String(request[0]).includes('/pets?')) {
      const { body: category } = await api.post('/categories', { name: 'Created meanwhile' });
      id = await aPet(api, { name: 'New', categoryId: category.id });
    }
    return fetch(...request);
  });
  const { stdout } = await test.run(['export', 'pets', '--format', 'ndjson']);
  const pets = stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
  assert.equal(pets.find(pet => pet.id === id)?.category, 'Created meanwhile');
});

describe('a name that spreadsheet programs would execute', () => {
  const hostile = [
    '=HYPERLINK("http://x")',
    '+1',
    '-1',
    '@SUM(A1)',
    "'=1",
    "''-1",
    "'",
    "''",
    "'Rex",
    'a=1',
    'a;=1+1',
  ];
  const unit = fc.constantFrom(...`'=+-@a1 ",;`);
  const random = fc
    .sample(fc.string({ unit, minLength: 1, maxLength: 6 }), sized(12, 60))
    .map(name => name.trim())
    .filter(name => name !== '');
  const names = [...hostile, ...random];

  for (const args of [[], ['--raw']]) {
    it(`is the same after petstore export and import ${args.join(' ')}`, async () => {
      const { body: category } = await test.shop.api.post('/categories', {
        name: `=Formulas ${args.length}`,
      });
      for (const name of names) await test.shop.api.post('/pets', { name, categoryId: category.id });
      const { stdout } = await test.run(['export', 'pets', ...args]);
      const [header, ...lines] = stdout.trimEnd().split('\n');
      const exported = lines.filter(line => line.includes(`=Formulas ${args.length}`));
      assert.equal(exported.length, names.length);
      for (const separator of [',', ';']) {
        const formulas = spreadsheetCells(exported.join('\n'), separator).filter(isFormula);
        assert.equal(formulas.length > 0, args.includes('--raw'), formulas.join('\n'));
      }
      test.write('formulas.csv', header!, ...exported);
      assert.equal((await test.summaryOf(['@formulas.csv', ...args])).created, names.length);
      const list = await test.run(['pets', 'list', '--category', `${category.id}`, '--all', '--json']);
      const found = list.stdout
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line).name);
      assert.deepEqual(found, [...names, ...names]);
    });
  }

  it('is escaped in a description and in rejected rows, whose file can be imported, and numbers are not escaped', async () => {
    await test.shop.api.post('/categories', { name: 'Described', description: '=cmd()' });
    const categories = await test.run(['export', 'categories']);
    assert.match(categories.stdout, /^\d+,Described,'=cmd\(\)$/m);
    test.write('minus.csv', 'name,category,quantity', '=A,Dogs,-5', "'=B,Nothing,1");
    assert.equal((await test.summaryOf(['@minus.csv'], 7)).rejected, 2);
    const rejected = test.read('minus.rejected.csv').trimEnd().split('\n');
    assert.match(rejected[1]!, /^2,invalid_request,[^\n]*,'=A,Dogs,'-5$/);
    assert.match(rejected[2]!, /^3,unknown_category,[^\n]*,'=B,Nothing,1$/);
    test.write(
      'again.csv',
      rejected[0]!,
      rejected[1]!.replace(/'-5$/, '2'),
      rejected[2]!.replace(',Nothing,', ',Dogs,'),
    );
    assert.equal((await test.summaryOf(['@again.csv'])).created, 2);
    assert.deepEqual((await test.petNames()).slice(-2), ['=A', '=B']);
  });

  it('is not escaped in the rejected rows of an import with --raw', async () => {
    test.write('raw.csv', 'name,category', '=A,Nothing');
    assert.equal((await test.summaryOf(['@raw.csv', '--raw'], 7)).rejected, 1);
    assert.match(test.read('raw.rejected.csv'), /,=A,Nothing\n$/);
  });
});

/** Cancels all open orders, and deletes all pets. */
async function removePets({ shop: { api }, petNames }: ImportShop): Promise<void> {
  const { body: orders } = await api.get('/store/orders?complete=false&limit=100');
  for (const { id } of orders) await api.delete(`/store/orders/${id}`);
  while ((await petNames()).length > 0) {
    const { body: pets } = await api.get('/pets?limit=100');
    for (const { id } of pets) await api.delete(`/pets/${id}`);
  }
}

it('what petstore exported makes the same pets when it is imported, whatever their names and stock are', async () => {
  await using others = new AsyncDisposableStack();
  const other = await startImportShop(others);
  const { api } = test.shop;
  const name = fc
    .oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
      fc.string({ unit: fc.constantFrom(...',;\t"\'=+-@ 0a'), minLength: 1, maxLength: 12 }),
    )
    .map(text => text.trim())
    .filter(text => RegExp(STRICT_NAME, 'u').test(text));
  const state = fc.constantFrom(
    ['available', 1],
    ['available', 12],
    ['pending', 3],
    // Open orders hold all its units.
    ['pending', 0],
    ['sold', 0],
  );
  const pets = fc.array(fc.tuple(name, fc.constantFrom(1, 2), state), { minLength: 1, maxLength: 8 });
  const format = fc.constantFrom('csv', 'ndjson');
  const exported = async (shop: ImportShop, format: string) => {
    const { code, stdout, stderr } = await shop.run(['export', 'pets', '--stock', '--format', format]);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const withoutIds = (text: string) => text.replaceAll(/^(?:\{"id":)?\d+,/gm, '');
  let file = 0;
  await fc.assert(
    fc.asyncProperty(pets, format, async (pets, format) => {
      for (const shop of [test, other]) {
        // Otherwise the limit of a minute ends the loop.
        shop.shop.clock.advance(MINUTE);
        await removePets(shop);
      }
      for (const [name, categoryId, [status, quantity]] of pets) {
        const isHeld = status === 'pending' && quantity === 0;
        const pet = { name, categoryId, status: isHeld ? 'available' : status };
        const { status: created, body, text } = await api.post('/pets', pet);
        assert.equal(created, 201, text);
        if (Number(quantity) > 1) await api.put(`/store/inventory/${body.id}`, { quantity });
        if (isHeld) await api.post('/store/orders', { petId: body.id });
      }
      const first = await exported(test, format);
      const path = `back${++file}.${format}`;
      other.write(path, first.trimEnd());
      const { code, stderr } = await other.run(['import', `@${path}`]);
      assert.equal(code, 0, stderr);
      assert.equal(withoutIds(await exported(other, format)), withoutIds(first));
      // Imported again, the file changes nothing.
      assert.equal((await other.run(['import', `@${path}`, '--skip-existing'])).code, 0);
      assert.equal((await other.petNames()).length, pets.length);
    }),
    // To shrink a failure would take minutes.
    { numRuns: sized(5, 500), endOnFailure: true },
  );
  await removePets(test);
});

describe('the progress of petstore export', () => {
  const toFile = { columns: 80, isToFile: true };
  /** Removes a line of the terminal. */
  const REMOVED = '\u001b[1G\u001b[0J';

  /** What follows the progress, which is shown only if the command takes longer than a moment. */
  function afterProgress(stderr: string): string {
    const end = stderr.lastIndexOf(REMOVED);
    assert.notEqual(end, -1, stderr);
    const shown = stripVTControlCharacters(stderr.slice(0, end));
    assert.match(shown, /^(\d+ (pets|categories)( {2}\d+\/s)?)*$/);
    return stderr.slice(end + REMOVED.length);
  }

  it('is removed at the end, also when Ctrl-C ends the command', async t => {
    const { code, stderr } = await test.run(['export', 'categories'], {}, toFile);
    assert.deepEqual([code, afterProgress(stderr)], [0, '']);
    rejectSecondPage(t);
    const interrupt = new AbortController();
    const output = { ...toFile, signal: interrupt.signal, onOutput: () => interrupt.abort() };
    const interrupted = await test.run(['export', 'categories'], {}, output);
    assert.equal(interrupted.code, 130);
    assert.match(
      afterProgress(interrupted.stderr),
      /^The output is incomplete: it has \d+ of the categories\n$/,
    );
  });

  it('is not shown between rows that the terminal shows', async () => {
    const { code, stdout, stderr } = await test.run(['export', 'categories'], {}, { columns: 80 });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^id,name,description\n1,Dogs,/);
  });

  it('is removed before the error of a command that fails', async () => {
    const { key } = await test.shop.clientWith({ scopes: ['orders:read'] });
    const { code, stderr } = await test.run(['export', 'pets'], { PETSTORE_API_KEY: key }, toFile);
    assert.equal(code, 3);
    assert.match(afterProgress(stderr), /^\S*Error:\S* The API key lacks the scope `pets:read`/);
  });
});
