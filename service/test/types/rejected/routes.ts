import { categoryRoutes } from '../../../src/catalog/categories/category-routes.ts';
import type { Operation } from '../../../src/contract/operation.ts';
import { defineRoute } from '../../../src/routes/define-route.ts';
import { idParams, nestedIdParams } from '../../../src/routes/id-params.ts';
import { reply } from '../../../src/routes/reply.ts';

const common: Pick<Operation, 'operationId' | 'tag' | 'summary' | 'description' | 'errors'> =
  categoryRoutes()[0]!;
const remove = {
  ...common,
  method: 'DELETE',
  path: '/categories',
  scope: 'pets:write',
  success: { status: 204, description: '' },
  handler: async () => reply.empty,
} as const;
const read = { ...remove, method: 'GET', scope: 'pets:read' } as const;

declare const readOrRemove: 'GET' | 'DELETE';

const owner = idParams('categoryId', 'The category.');
const item = idParams('petId', 'The pet.');

// These compile.
defineRoute(remove);
defineRoute(read);
defineRoute({ ...read, scope: 'webhooks:write' });
defineRoute({ ...read, scope: ['webhooks:write', 'events:read'] });
defineRoute({ ...remove, scope: ['webhooks:write', 'events:read'] });
defineRoute({ ...remove, scope: 'any' });
defineRoute({ ...remove, scope: null });
defineRoute({ ...remove, handler: ({ db }) => db.write(async () => reply.empty) });
defineRoute({ ...remove, path: '/categories/{categoryId}', params: owner });
defineRoute({
  ...remove,
  path: '/categories/{categoryId}/pets/{petId}',
  params: nestedIdParams(owner, item),
});

// Rejected: Property 'write' does not exist
defineRoute({ ...read, handler: ({ db }) => db.write(async () => reply.empty) });
// Rejected: Property 'run' does not exist
defineRoute({ ...read, handler: async ({ db }) => (await db.run('DELETE FROM orders')) && reply.empty });
// Rejected: Property 'write' does not exist
defineRoute({ ...read, prepare: ({ db }) => db.write(async () => {}) });
// Rejected: Property 'withQuery' does not exist
defineRoute({ ...read, handler: context => context.withQuery({}).db.write(async () => reply.empty) });
// Rejected: Property 'params' is missing
defineRoute({ ...remove, path: '/categories/{categoryId}' });
// Rejected: Property 'categoryId' is missing
defineRoute({ ...remove, path: '/categories/{categoryId}', params: item });
// Rejected: Property 'petId' is missing
defineRoute({ ...remove, path: '/categories/{categoryId}/pets/{petId}', params: owner });
// Rejected: is not assignable to type 'never'
defineRoute({ ...remove, params: owner });
// Rejected: '"pets:read"' is not assignable
defineRoute({ ...remove, scope: 'pets:read' });
// Rejected: '"events:read"' is not assignable
defineRoute({ ...remove, method: 'POST', scope: ['events:read', 'pets:read'] });
// Rejected: '"pets:read"' is not assignable
defineRoute({ ...remove, method: readOrRemove, scope: 'pets:read' });
