import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { document, type SchemaObject } from './document.ts';

/** Every schema of the document, with its JSON pointer: of bodies, parameters and headers, in requests and responses. */
const schemas = [...schemasIn(document, '#')];

/** Examples and enumerations contain values instead of schemas. */
function* schemasIn(value: unknown, pointer: string): Generator<[pointer: string, schema: SchemaObject]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (['example', 'examples', 'enum', 'default', 'x-error-codes'].includes(name)) continue;
    const place = `${pointer}/${name}`;
    if (isSchema(place, inner)) yield [place, inner];
    yield* schemasIn(inner, place);
  }
}

function isSchema(pointer: string, _value: unknown): _value is SchemaObject {
  return /\/(schema|items|not)$|\/(properties|components\/schemas|anyOf|oneOf|allOf)\/[^/]+$/.test(pointer);
}

function faultsOf(rule: (schema: SchemaObject, pointer: string) => boolean): string[] {
  return schemas.filter(([pointer, schema]) => !rule(schema, pointer)).map(([pointer]) => pointer);
}

describe('a schema of openapi.yaml', () => {
  it('of a property has no default, which generators take for a required property', () => {
    assert.ok(schemas.length > 500);
    const isParameter = (pointer: string) => /\/parameters\/[^/]+\/schema$/.test(pointer);
    assert.deepEqual(
      faultsOf((schema, pointer) => !('default' in schema) || isParameter(pointer)),
      [],
    );
  });
});
