import type { CallOptions, InventoryItem, Pet, PetStore } from '@petstore/client';
import { type Context, command } from '../command.ts';
import { LARGEST_PAGE, orAll } from '../items.ts';
import { flag, oneOf, several } from '../parameters.ts';
import { startProgress } from '../progress.ts';
import { category, exportedPet, historyEntry, order, stock } from '../resources.ts';
import { entriesOf, filters } from './history.ts';

const details =
  'Writes all items to standard output, as CSV or with --format ndjson. If a limit makes the command end, run it again with a longer --max-wait.';

const raw = flag(
  'Write texts with = + - @ at the start or after a separator as they are: spreadsheet programs execute them as formulas',
);

/** Yields items, and shows how many on the terminal if they are written to a file. */
async function* withProgress(
  context: Context,
  unit: string,
  read: (context: Pick<Context, 'store' | 'calls'>) => AsyncIterable<object>,
): AsyncGenerator<object> {
  const progress = startProgress(context, { unit, isHidden: context.stdout.isTTY });
  let done = 0;
  let isIncomplete = false;
  try {
    const store = context.connect({ note: progress.note });
    for await (const item of read({ store, calls: context.calls })) {
      yield item;
      progress.update(++done);
    }
  } catch (error) {
    isIncomplete = done > 0;
    throw error;
  } finally {
    progress.stop();
    if (isIncomplete)
      context.note(`The output is incomplete: it has ${done.toLocaleString('en')} of the ${unit}`);
  }
}

const pets = command({
  name: 'export pets',
  summary: 'Export pets, in a form that `petstore import` reads',
  details,
  options: {
    raw,
    stock: flag('Add the column quantity, which takes twice as many requests'),
    status: several(oneOf('Only pets with this status; can be repeated', 'available', 'pending', 'sold')),
  },
  examples: ['petstore export pets > pets.csv', 'petstore export pets --stock --format ndjson > pets.ndjson'],
  operations: ['GET /categories', 'GET /pets', 'GET /store/inventory'],
  output: 'file',
  prints: exportedPet,
  run: (context, { stock, status }) =>
    withProgress(context, 'pets', ({ calls, store }) => readPets(store, calls, status, stock === true)),
});

/** Yields the pets in the order of their IDs, with the names of their categories and perhaps their stock. */
async function* readPets(
  store: PetStore,
  calls: CallOptions,
  status: readonly Pet['status'][],
  withStock: boolean,
): AsyncGenerator<object> {
  const names = new Map<number, string>();
  const readNames = async () => {
    for await (const { id, name } of store.categories.list(LARGEST_PAGE, calls)) names.set(id, name);
  };
  await readNames();
  const query = { ...LARGEST_PAGE, status: orAll(status) };
  // Both lists have the same order.
  const entries = store.inventory.list({ ...query, sort: 'petId' }, calls)[Symbol.asyncIterator]();
  let entry: InventoryItem | undefined;
  for await (const pet of store.pets.list({ ...query, sort: 'id' }, calls)) {
    // The category was created meanwhile.
    if (!names.has(pet.categoryId)) await readNames();
    const exported = { ...pet, category: names.get(pet.categoryId) };
    if (!withStock) {
      yield exported;
      continue;
    }
    while (entry === undefined || entry.petId < pet.id) {
      const next = await entries.next();
      if (next.done) break;
      entry = next.value;
    }
    // A pet without an entry was deleted, or got another status, after its page was read.
    if (entry?.petId !== pet.id) continue;
    // The status that belongs to the quantity: the import rejects a pet that is available without stock.
    const { status, quantity } = entry;
    yield { ...exported, status, quantity };
  }
}

const orders = command({
  name: 'export orders',
  summary: 'Export orders',
  details,
  options: { raw },
  examples: ['petstore export orders > orders.csv'],
  operations: ['GET /store/orders'],
  output: 'file',
  prints: order,
  run: context =>
    withProgress(context, 'orders', ({ store, calls }) => store.orders.list(LARGEST_PAGE, calls)),
});

const categories = command({
  name: 'export categories',
  summary: 'Export categories',
  details,
  options: { raw },
  examples: ['petstore export categories > categories.csv'],
  operations: ['GET /categories'],
  output: 'file',
  prints: category,
  run: context =>
    withProgress(context, 'categories', ({ store, calls }) => store.categories.list(LARGEST_PAGE, calls)),
});

const entries = command({
  name: 'export stock',
  summary: 'Export the stock of all pets',
  details,
  options: { raw },
  examples: ['petstore export stock > stock.csv'],
  operations: ['GET /store/inventory'],
  output: 'file',
  prints: stock,
  run: context =>
    withProgress(context, 'entries', ({ store, calls }) => store.inventory.list(LARGEST_PAGE, calls)),
});

const history = command({
  name: 'export history',
  summary: 'Export who changed what, newest first',
  details,
  options: { raw, ...filters },
  examples: [
    'petstore export history > history.csv',
    'petstore export history --since 30d --format ndjson > history.ndjson',
  ],
  operations: ['GET /account', 'GET /keys', 'GET /history'],
  output: 'file',
  prints: { ...historyEntry, columns: [...historyEntry.fields] },
  run: (context, values) =>
    withProgress(context, 'changes', ({ store, calls }) => entriesOf({ store, calls }, values, LARGEST_PAGE)),
});

export const exports = [pets, orders, categories, entries, history];
