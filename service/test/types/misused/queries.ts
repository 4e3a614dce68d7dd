import * as categories from '../../../src/catalog/categories/categories.ts';
import { Category } from '../../../src/catalog/categories/category.ts';
import { categoryList } from '../../../src/catalog/categories/category-queries.ts';
import { pageOf } from '../../../src/contract/page.ts';
import { nameText } from '../../../src/contract/schema.ts';
import { defineRoute } from '../../../src/routes/define-route.ts';
import { listQuery } from '../../../src/routes/list-query.ts';
import { reply } from '../../../src/routes/reply.ts';

const query = listQuery(categoryList);

const described = {
  method: 'GET',
  path: '/categories',
  tag: 'Categories',
  summary: '',
  description: '',
  scope: 'pets:read',
  success: pageOf(Category, ''),
  errors: [],
} as const;

export const exampleRoutes = [
  // Ignores `colour`, although the query is passed on.
  defineRoute({
    ...described,
    operationId: 'readNoColour',
    query: { ...query, properties: { colour: nameText, ...query.properties } },
    handler: async context => reply.page(await categories.list(context.db, context.query)),
  }),
  // Ignores `count`.
  defineRoute({
    ...described,
    operationId: 'readNoCount',
    query,
    handler: async ({ db, query: { count, ...rest } }) => reply.page(await categories.list(db, rest)),
  }),
];
