import * as categories from '../../../src/catalog/categories/categories.ts';
import { Category, categoryTable } from '../../../src/catalog/categories/category.ts';
import { categoryList } from '../../../src/catalog/categories/category-queries.ts';
import { categoryRoutes } from '../../../src/catalog/categories/category-routes.ts';
import type { Operation } from '../../../src/contract/operation.ts';
import { nameText } from '../../../src/contract/schema.ts';
import type { Queries } from '../../../src/db/database.ts';
import { defineList } from '../../../src/db/define-list.ts';
import { is, startsWith } from '../../../src/db/list.ts';
import { selectPage } from '../../../src/db/select-page.ts';
import { allWebhooksList, webhookList } from '../../../src/events/webhooks/webhook-queries.ts';
import { defineRoute } from '../../../src/routes/define-route.ts';
import { listQuery } from '../../../src/routes/list-query.ts';
import { reply } from '../../../src/routes/reply.ts';

declare const db: Queries;
const sorts = { id: ['id'] } as const;
const success = { status: 200, description: '', schema: { type: 'array', items: Category } } as const;
const common: Pick<Operation, 'operationId' | 'tag' | 'summary' | 'description' | 'scope' | 'errors'> =
  categoryRoutes()[0]!;
const described = { ...common, method: 'GET', path: '/categories', success } as const;

// These compile.
const query = listQuery(categoryList);
defineList(categoryTable, { filters: { name: startsWith('name', nameText) }, sorts, defaultSort: 'id' });
void selectPage(db, webhookList, {}, 1);
void selectPage(db, allWebhooksList, {});
defineRoute({
  ...described,
  query,
  handler: async context => reply.page(await categories.list(context.db, context.query)),
});

// Rejected: "Not a sort: name"
defineList(categoryTable, { filters: {}, sorts, defaultSort: 'name' });
// Rejected: "wings"
defineList(categoryTable, { filters: { wings: is('wings', nameText) }, sorts, defaultSort: 'id' });
// Rejected: Expected 2 arguments, but got 1
defineList(categoryTable, { filters: { name: startsWith('name') }, sorts, defaultSort: 'id' });
// Rejected: Expected 4 arguments, but got 3
void selectPage(db, webhookList, {});
// Rejected: 'undefined' is not assignable to parameter of type 'Value'
void selectPage(db, webhookList, {}, undefined);
// Rejected: Expected 3 arguments, but got 4
void selectPage(db, allWebhooksList, {}, 1);
// Rejected: 'wings' does not exist in type
void selectPage(db, categoryList, { wings: 'two' });
