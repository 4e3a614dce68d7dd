import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Schema } from '../../src/contract/schema.ts';
import { describedRoutes } from '../../src/described-routes.ts';

const MAX_PAGE = 100;

/** A schema and all schemas inside it, each with its path. */
function* within(schema: Schema, path: string): Generator<[path: string, schema: Schema]> {
  yield [path, schema];
  if (schema.items) yield* within(schema.items, `${path}[]`);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    yield* within(property, `${path}.${name}`);
  }
}

/** Why a value of this schema could have any size; `undefined` if its size is limited. */
function uncapped({ type, enum: choices, format, maxItems, maxLength, additionalProperties }: Schema) {
  if (type === 'array' && maxItems === undefined) return 'has no maxItems';
  // A list of values limits a text. A date-time is read in one pass and stored as a number.
  const isCapped = maxLength !== undefined || choices !== undefined || format === 'date-time';
  if (type === 'string' && !isCapped) return 'has no maxLength';
  if (type === 'object' && additionalProperties !== false) return 'accepts fields of any name';
  return undefined;
}

describe('the input of every operation', () => {
  it('is capped: arrays by maxItems, texts by maxLength, objects by their fields', () => {
    const faults: string[] = [];
    for (const { operationId, params, query, body } of describedRoutes) {
      for (const [part, schema] of Object.entries({ params, query, body })) {
        if (!schema) continue;
        for (const [path, inner] of within(schema, `${operationId} ${part}`)) {
          const fault = uncapped(inner);
          if (fault) faults.push(`${path} ${fault}`);
        }
      }
    }
    assert.deepEqual(faults, []);
  });
});

describe('every operation that lists', () => {
  const lists = describedRoutes.filter(({ success }) => success.schema?.type === 'array');

  it('accepts a limit with a default and a maximum', () => {
    assert.ok(lists.length > 0);
    for (const { operationId, query } of lists) {
      const limit = query?.properties?.limit;
      assert.ok(limit, `${operationId} declares no limit`);
      assert.ok(limit.minimum === 1 && limit.maximum! <= MAX_PAGE, operationId);
      // A list of IDs has as many items as IDs; otherwise its description states the default.
      const standard = limit.default ?? /The default is (\d+), or/.exec(limit.description ?? '')?.[1];
      assert.ok(Number(standard) <= limit.maximum!, operationId);
    }
  });

  it('documents the maximum number of items on a page', () => {
    for (const { operationId, success, query } of lists) {
      assert.equal(success.schema?.maxItems, query?.properties?.limit?.maximum, operationId);
    }
  });
});
