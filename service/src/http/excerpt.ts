import { propertyOf, type Schema } from '../contract/schema.ts';
import { isRecord } from '../kit/objects.ts';
import { MAX_FAULTS } from './faults.ts';

interface Excerpt {
  value: unknown;
  /** The number of unknown fields that were removed. */
  leftOut: number;
}

/** The items of an array that stay in an excerpt: more than a message can show. */
const EXCERPT_ITEMS = 60;

/**
 * Cuts rejected input down to what a message can show: the number of items and fields that are checked is bounded by the schema, not by
 * the input. All unknown fields are counted.
 */
export function excerptOf(schema: Schema, value: unknown): Excerpt {
  if (schema.type === 'array' && Array.isArray(value)) {
    // One item more than allowed, so that the array is still too long.
    const first = value.slice(0, Math.max(EXCERPT_ITEMS, (schema.maxItems ?? 0) + 1));
    const items = first.map(item =>
      schema.items ? excerptOf(schema.items, item) : { value: item, leftOut: 0 },
    );
    return { value: items.map(item => item.value), leftOut: sum(items.map(item => item.leftOut)) };
  }
  // A value of the wrong type has only that fault, and an object of any fields has none inside.
  if (schema.type !== 'object' || !schema.properties || !isRecord(value)) return { value, leftOut: 0 };
  const excerpt: Record<string, unknown> = Object.create(null);
  let unknown = 0;
  let leftOut = 0;
  // Object.entries would take longer than the rest of this function.
  for (const name of Object.keys(value)) {
    const property = propertyOf(schema, name);
    if (!property && ++unknown > MAX_FAULTS) continue;
    const field = value[name];
    const inner = property ? excerptOf(property, field) : { value: field, leftOut: 0 };
    excerpt[name] = inner.value;
    leftOut += inner.leftOut;
  }
  return { value: excerpt, leftOut: leftOut + Math.max(0, unknown - MAX_FAULTS) };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
