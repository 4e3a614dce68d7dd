import { Category, CategoryPatch } from '../../../src/catalog/categories/category.ts';
import { categoryRoutes } from '../../../src/catalog/categories/category-routes.ts';
import type { Operation } from '../../../src/contract/operation.ts';
import { merged } from '../../../src/routes/change.ts';
import { defineRoute } from '../../../src/routes/define-route.ts';
import { idParams } from '../../../src/routes/id-params.ts';
import { reply } from '../../../src/routes/reply.ts';

const common: Pick<Operation, 'operationId' | 'tag' | 'summary' | 'description' | 'errors'> =
  categoryRoutes()[0]!;
const described = { ...common, path: '/categories', scope: 'pets:write' } as const;

const params = idParams('categoryId', 'The category.');
const read = {
  ...described,
  method: 'GET',
  success: { status: 200, description: '', schema: Category },
} as const;
const list = { ...read, success: { ...read.success, schema: { type: 'array', items: Category } } } as const;
const account = {
  ...read,
  success: {
    ...read.success,
    schema: { type: 'object', properties: { id: read.success.schema.properties.id, category: Category } },
  },
} as const;
const create = {
  ...described,
  method: 'POST',
  success: { status: 201, description: '', schema: Category },
} as const;
const remove = { ...described, method: 'DELETE', success: { status: 204, description: '' } } as const;
const patch = { ...read, method: 'PATCH' } as const;
const wingsPatch = { type: 'object', properties: { wings: { type: 'string' } } } as const;
const numberPatch = { type: 'object', properties: { name: { type: 'integer' } } } as const;
const namelessPatch = { type: 'object', properties: { name: { type: 'string', nullable: true } } } as const;

const dogs: Category = { id: 1, name: 'Dogs' };
const row = { ...dogs, hash: '9c1e5f0a' };

// These compile.
defineRoute({ ...read, handler: async () => reply.resource(dogs) });
defineRoute({ ...list, handler: async () => reply.page({ items: [dogs] }) });
defineRoute({ ...create, handler: async () => reply.created('/categories/1', dogs) });
defineRoute({ ...remove, handler: async () => reply.empty });
defineRoute({
  ...read,
  path: '/categories/{categoryId}',
  params,
  handler: async ({ params: { categoryId } }) => reply.resource({ ...dogs, id: categoryId }),
});
defineRoute({
  ...patch,
  body: CategoryPatch,
  handler: async context => reply.resource(merged(context)(dogs)),
});

// Rejected: Property 'name' is missing in type '{ wings: string; id: string; }'
defineRoute({ ...read, handler: async () => reply.resource({ wings: 'blue', id: '1' }) });
// Rejected: Property 'name' is missing
defineRoute({ ...read, handler: async () => reply.resource({ id: 1 }) });
// Rejected: Type 'string' is not assignable to type 'number'
defineRoute({ ...create, handler: async () => reply.created('/categories/1', { ...dogs, id: '1' }) });
// Rejected: Property 'name' is missing
defineRoute({ ...list, handler: async () => reply.page({ items: [{ id: 1 }] }) });
// Rejected: "Not part of the schema: hash"
defineRoute({ ...read, handler: async () => reply.resource({ id: 1, name: 'Dogs', hash: '9c1e5f0a' }) });
// Rejected: "Not part of the schema: hash"
defineRoute({ ...read, handler: async () => reply.resource(row) });
// Rejected: "Not part of the schema: hash"
defineRoute({ ...read, handler: async () => reply.resource({ ...row, name: 'Cats' }) });
// Rejected: "Not part of the schema: hash"
defineRoute({ ...create, handler: async () => reply.created('/categories/1', row) });
// Rejected: "Not part of the schema: hash"
defineRoute({ ...list, handler: async () => reply.page({ items: [row] }) });
// Rejected: "Not part of the schema: hash"
defineRoute({ ...account, handler: async () => reply.resource({ id: 1, category: row }) });
// Rejected: '"created"' is not assignable to type '"resource"'
defineRoute({ ...read, handler: async () => reply.created('/categories/1', dogs) });
// Rejected: '"resource"' is not assignable to type '"empty"'
defineRoute({ ...remove, handler: async () => reply.resource(dogs) });
// Rejected: Property 'petId' does not exist
defineRoute({
  ...read,
  path: '/categories/{categoryId}',
  params,
  handler: async ({ params: { petId } }) => reply.resource({ ...dogs, id: petId }),
});
// Rejected: 'wings'
defineRoute({ ...patch, body: wingsPatch, handler: async context => reply.resource(merged(context)(dogs)) });
// Rejected: Type 'number' is not assignable to type 'string'
defineRoute({ ...patch, body: numberPatch, handler: async context => reply.resource(merged(context)(dogs)) });
// Rejected: 'name' is optional
defineRoute({
  ...patch,
  body: namelessPatch,
  handler: async context => reply.resource(merged(context)(dogs)),
});
