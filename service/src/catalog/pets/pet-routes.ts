import { CREATED_ID } from '../../contract/operation.ts';
import { merged, replacement } from '../../routes/change.ts';
import { defineRoute, type Route } from '../../routes/define-route.ts';
import { idParams } from '../../routes/id-params.ts';
import { listQuery } from '../../routes/list-query.ts';
import { reply } from '../../routes/reply.ts';
import { NewPet, Pet, PetPatch, Pets } from './pet.ts';
import { lockOfPet, petList } from './pet-queries.ts';
import * as pets from './pets.ts';
import type { SearchIndex } from './search/search-index.ts';
import { searchPets } from './search/search-pets.ts';

const petParams = idParams('petId', 'The pet.');

const setElsewhere = { quantity: 'PUT /store/inventory/{petId} sets the stock' };

const reading = { tag: 'Animals', scope: 'pets:read' } as const;

const writing = { tag: 'Animals', scope: 'pets:write' } as const;

/** The lock of the pet in the path. */
const locks = ({ params }: { params: { petId: number } }) => [lockOfPet(params.petId)];

const changing = {
  ...writing,
  params: petParams,
  setElsewhere,
  success: { status: 200, description: 'The updated pet.', schema: Pet },
  conditional: true,
  locks,
  errors: [
    'pet_not_found',
    'unknown_category',
    'pet_has_open_orders',
    'out_of_stock',
    'invalid_status_transition',
  ],
} as const;

export const petRoutes = (index: SearchIndex): Route[] => [
  defineRoute({
    ...reading,
    method: 'GET',
    path: '/pets',
    operationId: 'listPets',
    summary: 'List pets',
    description:
      'A page of pets that meet all filters. The URL of the next page is in the `Link` header. With exactly one `id`, a ' +
      'response with the pet has its ETag, the same as `GET /pets/{petId}`, and `If-Match` and `If-None-Match` work.',
    query: listQuery(petList),
    success: { status: 200, description: 'A page of pets.', schema: Pets },
    conditional: true,
    errors: [],
    handler: async context => {
      const { query, db } = context;
      const { q } = query;
      if (q !== undefined) return reply.page(await searchPets(db, { ...query, q }, context.closed));
      const page = await pets.list(db, query);
      return reply.page(page, query.id?.length === 1 ? page.items[0] : undefined);
    },
  }),

  defineRoute({
    ...writing,
    method: 'POST',
    path: '/pets',
    operationId: 'createPet',
    summary: 'Create a pet',
    description:
      'A new pet is `available` unless the body sets another `status`. It starts with a stock of 1, or of 0 if it is ' +
      'created as `sold`. An `id` in the body is ignored.',
    body: NewPet,
    setElsewhere,
    success: {
      status: 201,
      description: 'The pet as created.',
      schema: Pet,
      read: { operationId: 'listPets', parameters: { id: CREATED_ID } },
    },
    conditional: true,
    errors: ['unknown_category'],
    handler: async ({ body, db }) => {
      const pet = await pets.create(db, body, index);
      return reply.created(`/pets/${pet.id}`, pet);
    },
  }),

  defineRoute({
    ...reading,
    method: 'GET',
    path: '/pets/{petId}',
    operationId: 'getPet',
    summary: 'Read a pet',
    description: 'One pet by its ID.',
    params: petParams,
    success: { status: 200, description: 'The pet.', schema: Pet },
    conditional: true,
    errors: ['pet_not_found'],
    deprecation: { since: '2026-11-21', sunset: '2030-12-05', successor: '/pets?id={petId}' },
    handler: ({ params, db }) => pets.read(db, params.petId).then(reply.resource),
  }),

  defineRoute({
    ...changing,
    method: 'PUT',
    path: '/pets/{petId}',
    operationId: 'replacePet',
    summary: 'Replace a pet',
    description:
      'Replaces the fields of the pet. A `status` that is left out does not change. `pending` puts the pet on hold, ' +
      '`available` releases the hold, and `sold` ends the sale and sets the stock to 0.',
    body: NewPet,
    handler: async context =>
      reply.resource(await pets.update(context.db, context.params.petId, replacement(context), index)),
  }),

  defineRoute({
    ...changing,
    method: 'PATCH',
    path: '/pets/{petId}',
    operationId: 'changePet',
    summary: 'Change a pet',
    description:
      'A JSON merge patch (RFC 7396): fields that are left out do not change. The `status` `pending` puts the pet on hold, ' +
      '`available` releases the hold, and `sold` ends the sale and sets the stock to 0.',
    body: PetPatch,
    handler: async context =>
      reply.resource(await pets.update(context.db, context.params.petId, merged(context), index)),
  }),

  defineRoute({
    ...writing,
    method: 'DELETE',
    path: '/pets/{petId}',
    operationId: 'deletePet',
    summary: 'Delete a pet',
    description:
      'Deletes the pet and its stock. Completed orders keep its ID. A pet with open orders cannot be deleted.',
    params: petParams,
    success: { status: 204, description: 'The pet was deleted.' },
    conditional: true,
    locks,
    errors: ['pet_not_found', 'pet_has_open_orders'],
    handler: async ({ params, guard, db }) => {
      await pets.remove(db, params.petId, guard, index);
      return reply.empty;
    },
  }),
];
