import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describedRoutes } from '../../src/described-routes.ts';
import { document, type SchemaObject } from './document.ts';

/** Every schema of the document, with its JSON pointer: of bodies, parameters and headers, in requests and responses. */
const schemas = [...schemasIn(document, '#')];

/** Examples and enumerations contain values instead of schemas. */
function* schemasIn(value: unknown, pointer: string): Generator<[pointer: string, schema: SchemaObject]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (['example', 'examples', 'enum', 'default', 'x-error-codes'].includes(name)) continue;
    const place = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
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

  it('of an object in a request accepts no unknown field', () => {
    const isOfRequest = (pointer: string) => /\/requestBody\/.*\/(schema|properties\/[^/]+)$/.test(pointer);
    const faults = faultsOf(
      ({ type, additionalProperties }, pointer) =>
        type !== 'object' || !isOfRequest(pointer) || additionalProperties === false,
    );
    assert.deepEqual(faults, []);
  });

  it('of a text limits its length, or lists or describes its values', () => {
    const isLimited = ({ maxLength, enum: values, format, pattern }: SchemaObject) =>
      maxLength !== undefined || values || format || pattern;
    const faults = faultsOf(
      (schema, pointer) => schema.type !== 'string' || isWholeBody(pointer) || Boolean(isLimited(schema)),
    );
    assert.deepEqual(faults, []);
  });

  it('of an integer has a format, a minimum and a maximum, unless it is an ID to find, which can be any int64', () => {
    const isToFind = (pointer: string) => /\/parameters\/[^/]+\/schema(\/items)?$/.test(pointer);
    const faults = faultsOf(({ type, format, minimum, maximum }, pointer) => {
      if (type !== 'integer') return true;
      if (format === 'int64' && isToFind(pointer)) return true;
      return (
        ['int32', 'int64'].includes(format!) &&
        minimum !== undefined &&
        maximum !== undefined &&
        (format === 'int64' || maximum < 2 ** 31)
      );
    });
    assert.deepEqual(faults, []);
  });

  it('of an array has a maximum number of items', () => {
    assert.deepEqual(
      faultsOf(({ type, maxItems }) => type !== 'array' || maxItems !== undefined),
      [],
    );
  });
});

it('no example has a field that is a keyword of JSON Schema, which makes some validators reject the document', () => {
  const names = JSON.stringify(document).matchAll(/"(\$\w+)":/g);
  assert.deepEqual(new Set([...names].map(([, name]) => name)), new Set(['$ref', '$label']));
});

/** Whether a text is a response as a whole, such as a stream, which has no maximum length. */
function isWholeBody(pointer: string): boolean {
  return /\/content\/[^/]+\/schema$/.test(pointer);
}

const MAX_PAGE = 1_000;

it('every operation that lists accepts a limit with a default and a maximum, which its response documents', () => {
  const lists = describedRoutes.filter(({ success }) => success.schema?.type === 'array');
  assert.ok(lists.length > 0);
  for (const { operationId, success, query } of lists) {
    const limit = query?.properties?.limit;
    assert.ok(limit, `${operationId} declares no limit`);
    assert.ok(limit.minimum === 1 && limit.maximum === MAX_PAGE, operationId);
    // A list of IDs has as many items as IDs; otherwise its description states the default.
    const standard = limit.default ?? /The default is (\d+), or/.exec(limit.description ?? '')?.[1];
    assert.ok(Number(standard) <= limit.maximum!, operationId);
    assert.equal(success.schema?.maxItems, limit.maximum, operationId);
  }
});
