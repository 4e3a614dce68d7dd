import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { document, documentedOperations, type SchemaObject } from './document.ts';

/**
 * The shapes that must not change: their fields with their types. Required fields have an exclamation mark. In addition, the shapes of
 * new resources have the read-only fields of the resource.
 */
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

function fieldsOf({ properties = {}, required = [] }: SchemaObject, isNew: boolean): Record<string, string> {
  const fields = Object.entries(properties).filter(([, { readOnly }]) => !(isNew && readOnly));
  return Object.fromEntries(
    fields.map(([name, property]) => [required.includes(name) ? `${name}!` : name, typeOf(property)]),
  );
}

describe('the shape', () => {
  const { schemas } = document.components;

  for (const [name, fields] of Object.entries(shapes)) {
    it(`${name} has exactly the fields of the specification, with their types, and accepts no other`, () => {
      const schema = schemas[name]!;
      assert.equal(schema.type, 'object');
      assert.equal(schema.additionalProperties, false);
      assert.deepEqual(fieldsOf(schema, name.startsWith('New')), fields);
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

  it('of a new resource has the read-only fields of the resource, all of them optional', () => {
    const readOnly = (name: string) =>
      Object.entries(schemas[name]!.properties!).flatMap(([field, { readOnly }]) =>
        readOnly ? [field] : [],
      );
    for (const name of ['Pet', 'Category', 'Webhook']) {
      const fields = readOnly(`New${name}`);
      assert.ok(fields.includes('id'), name);
      assert.deepEqual(fields, readOnly(name));
      for (const field of fields) assert.ok(!schemas[`New${name}`]!.required!.includes(field), field);
    }
  });

  it('of a body is one schema, except that of a new API key, whose plans have different fields', () => {
    const alternatives = documentedOperations.filter(
      ({ operation }) => operation.requestBody?.content['application/json']?.schema.anyOf,
    );
    assert.deepEqual(
      alternatives.map(({ operation }) => operation.operationId),
      ['createApiKey'],
    );
  });

  it('of every object is closed', () => {
    for (const [name, schema] of Object.entries(schemas)) {
      if (schema.type === 'object') assert.equal(schema.additionalProperties, false, name);
    }
  });
});
