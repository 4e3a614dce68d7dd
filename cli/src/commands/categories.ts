import { command } from '../command.ts';
import { changes, defined, each, eachDone, pageSize } from '../items.ts';
import { id, oneOf, removable, required, several, text } from '../parameters.ts';
import { category, outcome } from '../resources.ts';

const ids = several(required(id('The categories')));

const list = command({
  name: 'categories list',
  summary: 'List categories',
  options: {
    name: text('Only categories whose name starts with this text'),
    sort: oneOf('The order; a leading - means descending', 'id', '-id', 'name', '-name'),
  },
  examples: ['petstore categories list', 'petstore categories list --name d --sort name'],
  operations: ['GET /categories'],
  output: 'list',
  prints: category,
  run: (context, { name, sort }) =>
    context.store.categories.list({ ...pageSize(context), name, sort }, context.calls),
});

const get = command({
  name: 'categories get',
  summary: 'Show categories',
  arguments: { ids },
  examples: ['petstore categories get 3'],
  operations: ['GET /categories/{categoryId}'],
  output: 'items',
  prints: category,
  run: (context, { ids }) => each(context, ids, id => context.store.categories.get(id, context.calls)),
});

const create = command({
  name: 'categories create',
  aliases: ['categories add'],
  summary: 'Create a category',
  arguments: { name: required(text('The name of the category', 'name')) },
  options: { description: text('A short description') },
  examples: ['petstore categories create Ferrets --description "Playful, and awake at night"'],
  operations: ['POST /categories'],
  output: 'item',
  prints: category,
  run: ({ store, calls }, { name, description }) =>
    store.categories.create(defined({ name, description }), calls),
});

const update = command({
  name: 'categories update',
  summary: 'Change fields of a category',
  arguments: { id: required(id('The category')) },
  options: { name: text('The new name'), description: removable('The new description') },
  examples: ['petstore categories update 3 --name Cats', 'petstore categories update 3 --description ""'],
  operations: ['PATCH /categories/{categoryId}'],
  output: 'item',
  prints: category,
  run: ({ store, calls }, { id, name, description }) =>
    store.categories.update(id, changes({ name, description }), calls),
});

const remove = command({
  name: 'categories delete',
  confirms: 'Delete categories',
  summary: 'Delete categories that have no pets',
  arguments: { ids },
  examples: ['petstore categories delete 11'],
  operations: ['DELETE /categories/{categoryId}'],
  output: 'items',
  prints: outcome,
  run: (context, { ids }) =>
    eachDone(context, ids, 'deleted', id => context.store.categories.delete(id, context.calls)),
});

export const categories = [list, get, create, update, remove];
