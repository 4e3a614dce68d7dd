import type { Category, NewCategory } from '@petstore/client';
import type { Resource } from './resource.ts';

export interface CategoryQuery {
  name?: string | undefined;
}

export const categories: Resource<Category, CategoryQuery> = {
  name: 'category',
  idOf: category => category.id,
  list: (store, query, options) => store.categories.list(query, options),
  read: (store, id) => store.categories.get(id).withResponse(),
  create: (store, category) => store.categories.create(category as NewCategory),
  update: (store, id, patch, options) => store.categories.update(id, patch, options),
  remove: (store, id, options) => store.categories.delete(id, options),
  matches: (category, { name = '' }) => category.name.toLowerCase().startsWith(name.toLowerCase()),
};
