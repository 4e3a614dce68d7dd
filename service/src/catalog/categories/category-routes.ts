import { CREATED_ID } from '../../contract/operation.ts';
import { pageOf } from '../../contract/page.ts';
import { merged, replacement } from '../../routes/change.ts';
import { defineRoute, type Route } from '../../routes/define-route.ts';
import { idParams } from '../../routes/id-params.ts';
import { listQuery } from '../../routes/list-query.ts';
import { reply } from '../../routes/reply.ts';
import * as categories from './categories.ts';
import { Category, CategoryPatch, NewCategory } from './category.ts';
import { categoryList, lockOfCategory } from './category-queries.ts';

const categoryParams = idParams('categoryId', 'The category.');

const reading = { tag: 'Categories', scope: 'pets:read' } as const;

const writing = { tag: 'Categories', scope: 'pets:write' } as const;

/** The lock of the category in the path. */
const locks = ({ params }: { params: { categoryId: number } }) => [lockOfCategory(params.categoryId)];

const changing = {
  ...writing,
  params: categoryParams,
  success: { status: 200, description: 'The updated category.', schema: Category },
  conditional: true,
  locks,
  errors: ['category_not_found', 'category_name_taken'],
} as const;

export const categoryRoutes = (): Route[] => [
  defineRoute({
    ...reading,
    method: 'GET',
    path: '/categories',
    operationId: 'listCategories',
    summary: 'List categories',
    description: 'A page of categories. The URL of the next page is in the `Link` header.',
    query: listQuery(categoryList),
    success: pageOf(Category, 'A page of categories.'),
    errors: [],
    handler: async ({ query, db }) => reply.page(await categories.list(db, query)),
  }),

  defineRoute({
    ...writing,
    method: 'POST',
    path: '/categories',
    operationId: 'createCategory',
    summary: 'Create a category',
    description: 'Names are unique without regard to case.',
    body: NewCategory,
    success: {
      status: 201,
      description: 'The category as created.',
      schema: Category,
      read: { operationId: 'getCategory', parameters: { categoryId: CREATED_ID } },
    },
    conditional: true,
    errors: ['category_name_taken'],
    handler: async ({ body, db }) => {
      const category = await categories.create(db, body);
      return reply.created(`/categories/${category.id}`, category);
    },
  }),

  defineRoute({
    ...reading,
    method: 'GET',
    path: '/categories/{categoryId}',
    operationId: 'getCategory',
    summary: 'Read a category',
    description: 'One category by its ID.',
    params: categoryParams,
    success: { status: 200, description: 'The category.', schema: Category },
    conditional: true,
    errors: ['category_not_found'],
    handler: async ({ params, db }) => reply.resource(await categories.read(db, params.categoryId)),
  }),

  defineRoute({
    ...changing,
    method: 'PUT',
    path: '/categories/{categoryId}',
    operationId: 'replaceCategory',
    summary: 'Replace a category',
    description: 'Replaces all fields of the category. A `description` that is left out is removed.',
    body: NewCategory,
    handler: async context =>
      reply.resource(await categories.update(context.db, context.params.categoryId, replacement(context))),
  }),

  defineRoute({
    ...changing,
    method: 'PATCH',
    path: '/categories/{categoryId}',
    operationId: 'changeCategory',
    summary: 'Change a category',
    description:
      'A JSON merge patch (RFC 7396): fields that are left out do not change; `description: null` removes the description.',
    body: CategoryPatch,
    handler: async context =>
      reply.resource(await categories.update(context.db, context.params.categoryId, merged(context))),
  }),

  defineRoute({
    ...writing,
    method: 'DELETE',
    path: '/categories/{categoryId}',
    operationId: 'deleteCategory',
    summary: 'Delete a category',
    description: 'Only a category without pets can be deleted.',
    params: categoryParams,
    success: { status: 204, description: 'The category was deleted.' },
    conditional: true,
    locks,
    errors: ['category_not_found', 'category_in_use'],
    handler: async ({ params, guard, db }) => {
      await categories.remove(db, params.categoryId, guard);
      return reply.empty;
    },
  }),
];
