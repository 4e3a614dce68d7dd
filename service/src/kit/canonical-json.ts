import { isRecord } from './objects.ts';

/** Objects with more fields keep their order: to sort 10,000 names takes 20 ms, and no shape of the contract has as many as this. */
const MOST_SORTED = 100;

/**
 * Returns the JSON text of a value, with the fields of each object in an order that depends only on their names. Values that are equal
 * have the same text. The value comes from JSON, so its depth is limited.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const names = Object.keys(value);
  if (names.length > MOST_SORTED) return value;
  // `__proto__` is an ordinary name only in an object without a prototype.
  const copy: Record<string, unknown> = Object.create(null);
  for (const name of names.sort()) copy[name] = sorted(value[name]);
  return copy;
}
