/** The values of one field, in the order of the items. */
export function valuesOf<Items extends readonly unknown[], Field extends keyof Items[number]>(
  items: Items,
  field: Field,
): Items[number][Field][] {
  return items.map(item => (item as Items[number])[field]);
}

/** The IDs of events, as numbers. */
export function idsOf(items: readonly { id: string | number }[]): number[] {
  return items.map(({ id }) => Number(id));
}
