import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Static } from '../../src/contract/static.ts';
import type { Transaction } from '../../src/db/database.ts';
import { EventKind } from '../../src/events/event-log/event-kind.ts';
import { type AnyContext, defineRoute } from '../../src/routes/define-route.ts';
import { reply } from '../../src/routes/reply.ts';

const Kennel = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    owner: { type: 'object', nullable: true, properties: { name: { type: 'string' } } },
    dogs: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
    notes: { type: 'object' },
  },
  required: ['id', 'owner'],
} as const;
type Kennel = Static<typeof Kennel>;

/** A function whose type hides the fields that the compiler could reject. */
const asKennel = (row: object): Kennel => row as Kennel;

const whole = {
  ...{ id: 1, owner: { name: 'Ada' } },
  ...{ dogs: [{ name: 'Rex' }, { name: 'Bo' }], notes: { any: 1 } },
};

/** Values with a field that no schema defines: in the resource, in an object and in an array. */
const leaks: Record<string, object> = {
  hash: { ...whole, hash: '9c1e' },
  address: { ...whole, owner: { name: 'Ada', address: 'Elm Street' } },
  chip: { ...whole, dogs: [{ name: 'Rex' }, { name: 'Bo', chip: 7 }] },
};

const described = {
  operationId: 'readKennel',
  tag: 'Animals',
  summary: '',
  description: '',
  path: '/kennels',
  scope: 'pets:write',
  errors: [],
} as const;
const success = { status: 200, description: '', schema: Kennel } as const;
const list = { ...success, schema: { type: 'array', items: Kennel } } as const;

/** The operations that reply with a value: as a resource, as a created resource, and as the second item of a page. */
const replies = (value: object) => ({
  resource: defineRoute({
    ...{ ...described, method: 'GET', success },
    handler: async () => reply.resource(asKennel(value)),
  }),
  created: defineRoute({
    ...{ ...described, method: 'POST', success: { ...success, status: 201 } },
    handler: async () => reply.created('/kennels/1', asKennel(value)),
  }),
  page: defineRoute({
    ...{ ...described, method: 'GET', success: list },
    handler: async () => reply.page({ items: [asKennel(whole), asKennel(value)] }),
  }),
});

describe('a handler', () => {
  for (const kind of ['resource', 'created', 'page'] as const) {
    it(`returns a ${kind} with the fields of the schema`, async () => {
      for (const value of [whole, { id: 1, owner: null }])
        assert.equal((await replies(value)[kind].handler({} as AnyContext)).kind, kind);
    });

    for (const [field, value] of Object.entries(leaks)) {
      it(`throws for a ${kind} with the additional field ${field}, which the compiler cannot see`, async () => {
        await assert.rejects(replies(value)[kind].handler({} as AnyContext), {
          message: `The schema has no field \`${field}\``,
        });
      });
    }
  }
});

describe('an event', () => {
  const data = { ...Kennel, example: {} } as const;
  const kind = new EventKind({ title: 'KennelEvent', types: ['pet.created'], data });
  const appended: unknown[] = [];
  const tx = { append: event => appended.push(event) } as Pick<Transaction, 'append'> as Transaction;

  it('is appended with the fields of its schema', () => {
    kind.append(tx, 'pet.created', 1, asKennel(whole));
    assert.equal(appended.length, 1);
  });

  for (const [field, value] of Object.entries(leaks)) {
    it(`with the additional field ${field} is not appended`, () => {
      assert.throws(() => kind.append(tx, 'pet.created', 1, asKennel(value)), {
        message: `The schema has no field \`${field}\``,
      });
      assert.equal(appended.length, 1);
    });
  }
});
