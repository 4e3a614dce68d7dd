import assert from 'node:assert/strict';

/** The values of one field in the order of the items, or tuples of the values of several fields. */
export function valuesOf<Items extends readonly unknown[], Field extends keyof Items[number]>(
  items: Items,
  field: Field,
): Items[number][Field][];
export function valuesOf<Items extends readonly unknown[], Fields extends (keyof Items[number])[]>(
  items: Items,
  ...fields: Fields
): Items[number][Fields[number]][][];
export function valuesOf(
  items: readonly Record<PropertyKey, unknown>[],
  ...fields: PropertyKey[]
): unknown[] {
  return items.map(item => (fields.length === 1 ? item[fields[0]!] : fields.map(field => item[field])));
}

/** Fails with the items that meet a condition. */
export function assertNone<T>(items: readonly T[], isWrong: (item: T) => unknown, what?: string): void {
  assert.deepEqual(items.filter(isWrong), [], what);
}

export function idsOf(items: readonly { id: string | number }[]): number[] {
  return items.map(({ id }) => Number(id));
}
