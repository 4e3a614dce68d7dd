import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Schema } from '../contract/schema.ts';
import { excerptOf } from './excerpt.ts';

const inner = {
  type: 'object',
  additionalProperties: false,
  properties: { size: { type: 'integer' } },
} as const satisfies Schema;

const schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    name: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 3 },
    ids: { type: 'array', items: { type: 'integer' }, maxItems: 100 },
    box: inner,
    boxes: { type: 'array', items: inner, maxItems: 9 },
  },
} as const satisfies Schema;

const unknown = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`unknown${i}`, i]));
const numbers = Array.from({ length: 1_000 }, (_, i) => i);

interface Cut {
  tags: unknown[];
  ids: unknown[];
  box: object;
  boxes: object[];
}

describe('an excerpt of rejected input', () => {
  it('has few unknown fields at every level, and the number of the others', () => {
    const { value, leftOut } = excerptOf(schema, { ...unknown, box: unknown, boxes: [unknown, { size: 1 }] });
    const { box, boxes, ...rest } = value as Cut;
    assert.deepEqual(
      [rest, box, boxes[0]].map(fields => Object.keys(fields!).length),
      [5, 5, 5],
    );
    assert.deepEqual({ ...boxes[1] }, { size: 1 });
    assert.equal(leftOut, 3 * 995);
  });

  it('has an array that is still too long, but no longer than a message can show', () => {
    const { value, leftOut } = excerptOf(schema, { tags: numbers, ids: numbers });
    const { tags, ids } = value as Cut;
    assert.deepEqual([tags.length, ids.length, leftOut], [60, 101, 0]);
  });

  it('of a value of the wrong type is that value: its fields are not faults', () => {
    for (const input of [{ name: unknown }, { tags: unknown }, { box: numbers }, numbers]) {
      assert.equal(JSON.stringify(excerptOf(schema, input)), JSON.stringify({ value: input, leftOut: 0 }));
    }
  });

  it('of small input is that input', () => {
    for (const input of [{ name: 1, tags: ['a'], box: { size: 'x', y: [1] } }, [1], null, 'a', { ids: {} }]) {
      assert.equal(JSON.stringify(excerptOf(schema, input).value), JSON.stringify(input));
    }
  });
});
