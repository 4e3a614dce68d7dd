import { isDeepStrictEqual } from 'node:util';
import type { StoredEvent } from '../../db/database.ts';
import { sideOf } from './event-types.ts';

/** A value of a field before and after a change. A side that has no value is absent. */
interface FieldChange {
  field: string;
  from?: unknown;
  to?: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/** A field with its value before a change; without the value if it had none. */
type OldValue = [field: string] | [field: string, value: unknown];

/** Returns the values of the fields that changed, as the log stores them; `undefined` when none did. */
export function oldValuesOf(before: object, after: object): string | undefined {
  const [old, current] = [before as Fields, after as Fields];
  const changed: OldValue[] = [];
  for (const field in { ...old, ...current }) {
    if (isDeepStrictEqual(old[field], current[field])) continue;
    changed.push(old[field] === undefined ? [field] : [field, old[field]]);
  }
  return changed.length === 0 ? undefined : JSON.stringify(changed);
}

/**
 * Returns the values that an event changed. An event that begins a resource has only values after it, and one that ends a resource
 * only values before it.
 */
export function changesOf({
  type,
  data,
  old_values,
}: Pick<StoredEvent, 'type' | 'data' | 'old_values'>): FieldChange[] {
  const current: Fields = JSON.parse(data);
  if (old_values !== null) {
    return (JSON.parse(old_values) as OldValue[]).map(old => {
      const [field] = old;
      const to = current[field];
      return { field, ...(old.length === 2 && { from: old[1] }), ...(to !== undefined && { to }) };
    });
  }
  const side = sideOf(type);
  if (side === undefined) return [];
  // The subject of the event has the ID.
  return Object.entries(current).flatMap(([field, value]) =>
    field === 'id' ? [] : { field, [side]: value },
  );
}
