import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { document, type SchemaObject } from './document.ts';

/** The shapes that must not change: their fields with their types. Required fields have an exclamation mark. */
const shapes: Record<string, Record<string, string>> = {
  NewPet: { 'name!': 'string', 'categoryId!': 'integer int64', status: 'PetStatus' },
  Pet: { 'id!': 'integer int64', 'name!': 'string', 'categoryId!': 'integer int64', status: 'PetStatus' },
  NewCategory: { 'name!': 'string', description: 'string' },
  Category: { 'id!': 'integer int64', 'name!': 'string', description: 'string' },
  Order: {
    id: 'integer int64',
    petId: 'integer int64',
    quantity: 'integer int32',
    shipDate: 'string date-time',
    complete: 'boolean',
  },
  InventoryItem: { 'petId!': 'integer int64', 'quantity!': 'integer int32', 'status!': 'PetStatus' },
  InventoryUpdate: { 'quantity!': 'integer int32' },
  Error: { 'code!': 'string', 'message!': 'string', 'status!': 'integer int32' },
};

function typeOf({ $ref, type, format }: SchemaObject): string {
  if ($ref !== undefined) return $ref.split('/').at(-1)!;
  return format === undefined ? type! : `${type} ${format}`;
}

function fieldsOf({ properties = {}, required = [] }: SchemaObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [
      required.includes(name) ? `${name}!` : name,
      typeOf(property),
    ]),
  );
}

describe('the shape', () => {
  const { schemas } = document.components;

  for (const [name, fields] of Object.entries(shapes)) {
    it(`${name} has exactly the fields of the specification, with their types, and accepts no other`, () => {
      const schema = schemas[name]!;
      assert.equal(schema.type, 'object');
      assert.equal(schema.additionalProperties, false);
      assert.deepEqual(fieldsOf(schema), fields);
    });
  }

  it('PetStatus has exactly the values of the specification', () => {
    const { type, enum: values } = schemas.PetStatus!;
    assert.deepEqual([type, values], ['string', ['available', 'pending', 'sold']]);
  });

  it('Pets is an array of Pet', () => {
    const { type, items } = schemas.Pets!;
    assert.deepEqual([type, typeOf(items!)], ['array', 'Pet']);
  });

  it('of every object is closed', () => {
    for (const [name, schema] of Object.entries(schemas)) {
      if (schema.type === 'object') assert.equal(schema.additionalProperties, false, name);
    }
  });
});
