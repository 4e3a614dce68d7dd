import * as categories from '../../../src/catalog/categories/categories.ts';
import { Category, categoryTable } from '../../../src/catalog/categories/category.ts';
import { categoryList } from '../../../src/catalog/categories/category-queries.ts';
import { categoryRoutes } from '../../../src/catalog/categories/category-routes.ts';
import type { Operation } from '../../../src/contract/operation.ts';
import { nameText } from '../../../src/contract/schema.ts';
import { defineList, is, startsWith } from '../../../src/db/list.ts';
import { defineRoute } from '../../../src/routes/define-route.ts';
import { listQuery } from '../../../src/routes/list-query.ts';
import { reply } from '../../../src/routes/reply.ts';

const indexes = [{ columns: ['id'] }];
const sorts = { id: ['id'] } as const;
const success = { status: 200, description: '', schema: { type: 'array', items: Category } } as const;
const common: Pick<Operation, 'operationId' | 'tag' | 'summary' | 'description' | 'scope' | 'errors'> =
  categoryRoutes()[0]!;
const described = { ...common, method: 'GET', path: '/categories', success } as const;

// These compile.
const query = listQuery(categoryList, { name: nameText });
defineList(categoryTable, { filters: { name: startsWith('name') }, sorts, defaultSort: 'id', indexes });
defineRoute({
  ...described,
  query,
  handler: async context => reply.page(await categories.list(context.db, context.query)),
});

// Rejected: is not assignable to type 'never'
listQuery(categoryList, { name: nameText, wings: nameText });
// Rejected: Property 'name' is missing
listQuery(categoryList, {});
// Rejected: "Not a sort: name"
defineList(categoryTable, { filters: {}, sorts, defaultSort: 'name', indexes });
// Rejected: "wings"
defineList(categoryTable, { filters: { wings: is('wings') }, sorts, defaultSort: 'id', indexes });
