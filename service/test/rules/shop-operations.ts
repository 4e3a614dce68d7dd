import fc from 'fast-check';
import type { Resource } from './shop-shapes.ts';

/**
 * A request of a random sequence, before the existing IDs are known. References count the resources created so far:
 * `{ pet: 3 }` is the third pet (counting starts again after the last), `{ pet: 0 }` one that never existed.
 */
export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  resource: Resource;
  /** Missing for a collection; a text is sent unchanged. */
  target?: number | string;
  body?: Record<string, unknown>;
  query?: Record<string, unknown>;
  stale?: boolean;
}

/** A batch. Operations that create have labels, and later operations of the batch refer to them first. */
export interface BatchOfOperations {
  atomic: boolean;
  operations: Operation[];
}

export type Step = Operation | BatchOfOperations;

/** Usually an existing resource, sometimes a missing one. */
const reference = fc.oneof(
  { weight: 15, arbitrary: fc.integer({ min: 1, max: 4 }) },
  { weight: 1, arbitrary: fc.constant(0) },
);
const category = reference.map(n => ({ category: n }));
const pet = reference.map(n => ({ pet: n }));

const target = fc.oneof(
  { weight: 40, arbitrary: reference },
  {
    weight: 1,
    arbitrary: fc.constantFrom('0', '-1', 'abc', '1.5', '9223372036854775807', '9223372036854775808'),
  },
);

const LARGEST = 2_147_483_647;

/** Usually a valid value, sometimes an invalid one. */
function usually<T>(right: fc.Arbitrary<T>, ...wrong: unknown[]): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 40, arbitrary: right as fc.Arbitrary<unknown> },
    { weight: 1, arbitrary: fc.constantFrom(...wrong) },
  );
}

const categoryName = usually(
  fc.constantFrom('Dogs', 'DOGS', ' dogs ', 'Cats', 'Fish', 'x'.repeat(200)),
  '',
  '  ',
  'x'.repeat(201),
  'Do\u0000gs',
  7,
  null,
);
const petName = usually(
  fc.constantFrom('Biscuit', ' Mia ', '🐢'.repeat(200)),
  '',
  '🐢'.repeat(201),
  'a\nb',
  null,
);
const description = usually(
  fc.constantFrom('', 'Good\nfriends', 'y'.repeat(2000)),
  'y'.repeat(2001),
  'a\u0000',
  1,
);
const status = usually(fc.constantFrom('available', 'pending', 'sold'), 'lost', 1, null);
const units = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(LARGEST, LARGEST - 1) },
);
const quantity = usually(units, 0, -1, 1.5, LARGEST + 1, '1', null);
const stock = usually(
  fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 3 }), fc.constantFrom(LARGEST, LARGEST - 1)),
  -1,
  0.5,
  LARGEST + 1,
  '0',
  null,
  true,
);
const shipDate = usually(
  fc.constantFrom('2026-12-01T09:00:00Z', '2026-12-01t10:30:00.5+02:00', '0001-01-01T00:00:00Z'),
  '2026-12-01',
  '2026-12-01T09:00:00',
  1_700_000_000,
);
const complete = usually(fc.boolean(), 'true', 0);
const nullable = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof(
    { weight: 4, arbitrary: value as fc.Arbitrary<unknown> },
    { weight: 1, arbitrary: fc.constant(null) },
  );

/** An `id` in a body: usually the one in the path, the only valid one for PUT and PATCH. */
const ownId = usually(fc.constant({ own: true }), 999, 'one');

type Body = fc.Arbitrary<Record<string, unknown>>;

function body(
  required: Record<string, fc.Arbitrary<unknown>>,
  optional: Record<string, fc.Arbitrary<unknown>>,
): Body {
  const shape = fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) });
  return fc.oneof(
    { weight: 40, arbitrary: shape },
    { weight: 1, arbitrary: shape.map(fields => ({ ...fields, colour: 'red' })) },
    { weight: 1, arbitrary: fc.constant({}) },
  );
}

function writes(method: 'POST' | 'PUT' | 'PATCH', resource: Resource, fields: Body): fc.Arbitrary<Operation> {
  if (method === 'POST') return fields.map(body => ({ method, resource, body }));
  return fc.record({ target, body: fields, stale: stale }).map(rest => ({ method, resource, ...rest }));
}

const stale = fc.oneof(
  { weight: 20, arbitrary: fc.constant(false) },
  { weight: 1, arbitrary: fc.constant(true) },
);

function adjusts(fields: Body): fc.Arbitrary<Operation> {
  return fc
    .record({ target, body: fields })
    .map((rest): Operation => ({ method: 'POST', resource: 'inventory', ...rest }));
}

function ends(resource: Resource): fc.Arbitrary<Operation> {
  return fc.record({ target, stale }).map(rest => ({ method: 'DELETE', resource, ...rest }));
}

function reads(resource: Resource, filters: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Operation> {
  return fc.oneof(
    target.map((target): Operation => ({ method: 'GET', resource, target })),
    fc.record(filters, { requiredKeys: [] }).map((query): Operation => ({ method: 'GET', resource, query })),
  );
}

const plainStatus = fc.constantFrom('available', 'pending', 'sold');
const newPet = body({ name: petName, categoryId: category }, { status, id: fc.constant(5) });
const fullPet = body({ name: petName, categoryId: category }, { status, id: ownId });
const petPatch = body({}, { name: petName, categoryId: category, status, id: ownId });
const newCategory = body({ name: categoryName }, { description, id: fc.constant(5) });
const fullCategory = body({ name: categoryName }, { description, id: ownId });
const categoryPatch = body({}, { name: categoryName, description: nullable(description), id: ownId });
const newOrder = body({ petId: pet }, { quantity, shipDate, complete, id: fc.constant(5) });
const draft = body({}, { quantity, shipDate, complete });
const fullOrder = body({}, { petId: pet, quantity, shipDate, complete, id: ownId });
const orderPatch = body(
  {},
  {
    petId: nullable(pet),
    quantity: nullable(quantity),
    shipDate: nullable(shipDate),
    complete: nullable(complete),
    id: ownId,
  },
);
const update = body({ quantity: stock }, {});
const adjustment = body(
  {
    delta: usually(
      fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(LARGEST, -LARGEST)),
      0.5,
      LARGEST + 1,
      '1',
      null,
    ),
  },
  {},
);

/** One operation of the shop. Orders and stock are the most frequent: their rules are the most complex. */
const change: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 1, arbitrary: writes('POST', 'categories', newCategory) },
  { weight: 1, arbitrary: writes('PUT', 'categories', fullCategory) },
  { weight: 1, arbitrary: writes('PATCH', 'categories', categoryPatch) },
  { weight: 1, arbitrary: ends('categories') },
  { weight: 2, arbitrary: writes('POST', 'pets', newPet) },
  { weight: 2, arbitrary: writes('PUT', 'pets', fullPet) },
  { weight: 3, arbitrary: writes('PATCH', 'pets', petPatch) },
  { weight: 4, arbitrary: writes('PATCH', 'pets', body({ status }, {})) },
  { weight: 1, arbitrary: ends('pets') },
  { weight: 3, arbitrary: writes('PUT', 'inventory', update) },
  { weight: 4, arbitrary: adjusts(adjustment) },
  { weight: 7, arbitrary: writes('POST', 'orders', newOrder) },
  { weight: 1, arbitrary: writes('POST', 'orders', draft) },
  { weight: 3, arbitrary: writes('PUT', 'orders', fullOrder) },
  { weight: 6, arbitrary: writes('PATCH', 'orders', orderPatch) },
  { weight: 4, arbitrary: writes('PATCH', 'orders', fc.constant({ complete: true })) },
  { weight: 2, arbitrary: ends('orders') },
);

const read: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 1, arbitrary: reads('categories', {}) },
  { weight: 1, arbitrary: reads('pets', { status: plainStatus, categoryId: category }) },
  { weight: 1, arbitrary: reads('inventory', { status: plainStatus, quantityBelow: units }) },
  { weight: 1, arbitrary: reads('orders', { petId: pet, complete: fc.boolean() }) },
);

/** A change that a batch cannot contain, because it is deprecated. */
const deprecatedChange = writes('PATCH', 'inventory', update);

/** Usually only changes: a batch that reads is rejected. */
const batch: fc.Arbitrary<BatchOfOperations> = fc.record({
  atomic: fc.boolean(),
  operations: fc.array(fc.oneof({ weight: 80, arbitrary: change }, { weight: 1, arbitrary: read }), {
    minLength: 1,
    maxLength: 8,
    size: 'max',
  }),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 40, arbitrary: change },
  { weight: 1, arbitrary: deprecatedChange },
  { weight: 4, arbitrary: read },
  { weight: 4, arbitrary: batch },
);

/** A sequence that starts with a category, two pets and an order, so that no operation lacks a target. */
export const randomSteps: fc.Arbitrary<Step[]> = fc
  .array(step, { minLength: 1, maxLength: 60, size: 'max' })
  .map(rest => [...opening, ...rest]);

const opening: Operation[] = [
  { method: 'POST', resource: 'categories', body: { name: 'Birds' } },
  { method: 'POST', resource: 'pets', body: { name: 'Kiwi', categoryId: { category: 1 } } },
  { method: 'POST', resource: 'pets', body: { name: 'Coco', categoryId: { category: 1 } } },
  { method: 'PUT', resource: 'inventory', target: 1, body: { quantity: 3 } },
  { method: 'POST', resource: 'orders', body: { petId: { pet: 1 }, quantity: 2 } },
];
