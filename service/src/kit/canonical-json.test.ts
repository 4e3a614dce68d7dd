import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { canonicalJson } from './canonical-json.ts';
import { isRecord } from './objects.ts';

/** The value with the fields of all objects in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, reversed(field)]);
  return Object.fromEntries(fields.reverse());
}

/** A value as a parser returns it. */
const values = fc.json().map(text => JSON.parse(text));

describe('canonical JSON', () => {
  it('is the value, and does not depend on the order of fields', () =>
    fc.assert(
      fc.property(values, value => {
        const text = canonicalJson(value);
        assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
        assert.equal(canonicalJson(reversed(value)), text);
      }),
    ));

  it('depends on the order of items, and on the type of each value', () => {
    const different = ['[1,2]', '[2,1]', '{"a":1}', '{"a":"1"}', '{"a":[1]}', '{"a":null}', '{}', '[]'];
    assert.equal(new Set(different.map(text => canonicalJson(JSON.parse(text)))).size, different.length);
  });
});
