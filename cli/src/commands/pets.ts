import { NotFoundError } from '@petstore/client';
import { type Context, command } from '../command.ts';
import { changes, defined, each, eachDone, orAll, pageSize } from '../items.ts';
import { id, oneOf, required, several, text } from '../parameters.ts';
import { outcome, pet } from '../resources.ts';

const STATUS = ['available', 'pending', 'sold'] as const;
const ids = several(required(id('The pets')));

const list = command({
  name: 'pets list',
  summary: 'List pets',
  options: {
    status: several(oneOf('Only pets with this status; can be repeated', ...STATUS)),
    category: id('Only pets of this category'),
    name: text('Only pets whose name starts with this text'),
    sort: oneOf('The order; a leading - means descending', 'id', '-id', 'name', '-name'),
  },
  examples: [
    'petstore pets list --status available',
    'petstore pets list --category 3 --all --json',
    'petstore pets list --name b --fields id,name',
  ],
  operations: ['GET /pets'],
  output: 'list',
  prints: pet,
  run: (context, { status, category, name, sort }) =>
    context.store.pets.list(
      { ...pageSize(context), status: orAll(status), categoryId: category, name, sort },
      context.calls,
    ),
});

const search = command({
  name: 'pets search',
  summary: 'Search pets by the words of their names',
  details:
    'Finds longer words too, without regard to case and accents, and words with typing errors. The best matches come first.',
  arguments: { words: several(required(text('The words to search'))) },
  options: {
    status: several(oneOf('Only pets with this status; can be repeated', ...STATUS)),
    category: id('Only pets of this category'),
  },
  examples: ['petstore pets search ecl', 'petstore pets search black cat --status available'],
  operations: ['GET /pets'],
  output: 'list',
  prints: pet,
  run: (context, { words, status, category }) =>
    context.store.pets.list(
      { ...pageSize(context), q: words.join(' '), status: orAll(status), categoryId: category },
      context.calls,
    ),
});

const get = command({
  name: 'pets get',
  summary: 'Show pets',
  arguments: { ids },
  examples: ['petstore pets get 1', 'petstore pets get 1 2 3 --json'],
  operations: ['GET /pets'],
  output: 'items',
  prints: pet,
  run: (context, { ids }) => {
    const pets = readPets(context, ids);
    return each(context, ids, async id => {
      const found = (await pets).get(id);
      if (found) return found;
      throw new NotFoundError(`There is no pet ${id}`, { code: 'pet_not_found' });
    });
  },
});

/** Reads pets by ID, 100 with each request. */
async function readPets({ store, calls }: Context, ids: readonly number[]) {
  const size = 100;
  const unique = [...new Set(ids)];
  const starts = Array.from({ length: Math.ceil(unique.length / size) }, (_, i) => i * size);
  const pages = starts.map(async start => {
    const found = [];
    for await (const pet of store.pets.list({ id: unique.slice(start, start + size) }, calls))
      found.push(pet);
    return found;
  });
  return new Map((await Promise.all(pages)).flat().map(pet => [pet.id, pet]));
}

const create = command({
  name: 'pets create',
  aliases: ['pets add'],
  summary: 'Create a pet',
  arguments: { name: required(text('The name of the pet', 'name')) },
  options: {
    category: required(id('The category of the pet')),
    status: oneOf('The status; available unless set', ...STATUS),
  },
  examples: [
    'petstore pets create Bandit --category 11',
    'petstore pets create Bandit --category 11 --fields id',
  ],
  operations: ['POST /pets'],
  output: 'item',
  prints: pet,
  run: ({ store, calls }, { name, category, status }) =>
    store.pets.create(defined({ name, categoryId: category, status }), calls),
});

const update = command({
  name: 'pets update',
  summary: 'Change fields of a pet',
  arguments: { id: required(id('The pet')) },
  options: {
    name: text('The new name'),
    category: id('The new category'),
    status: oneOf('The new status', ...STATUS),
  },
  examples: ['petstore pets update 1 --name Rex', 'petstore pets update 1 --status pending'],
  operations: ['PATCH /pets/{petId}'],
  output: 'item',
  prints: pet,
  run: ({ store, calls }, { id, name, category, status }) =>
    store.pets.update(id, changes({ name, categoryId: category, status }), calls),
});

const remove = command({
  name: 'pets delete',
  confirms: 'Delete pets',
  summary: 'Delete pets that have no open orders',
  arguments: { ids },
  examples: ['petstore pets delete 41', 'petstore pets delete 41 42 43'],
  operations: ['DELETE /pets/{petId}'],
  output: 'items',
  prints: outcome,
  run: (context, { ids }) =>
    eachDone(context, ids, 'deleted', id => context.store.pets.delete(id, context.calls)),
});

export const pets = [list, search, get, create, update, remove];
