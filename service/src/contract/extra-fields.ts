import type { Schema } from './schema.ts';

/** Throws for a value with a field that a schema does not define, also within objects and arrays. */
export type FieldCheck = (value: unknown) => void;

/** A check that accepts every value. */
const acceptAll: FieldCheck = () => {};

/**
 * Returns the check of values of a schema. The compiler rejects most extra fields (`Exactly`), but not those that a declared type
 * hides, such as those of a row that is spread into a resource. The JSON text of the value would show them to clients.
 */
export function fieldCheckOf({ type, items, properties }: Schema): FieldCheck {
  if (type === 'array' && items) {
    const check = fieldCheckOf(items);
    if (check === acceptAll) return acceptAll;
    return values => {
      for (const value of values as readonly unknown[]) check(value);
    };
  }
  // An object without properties may have any fields.
  if (!properties) return acceptAll;
  const checks = new Map(Object.entries(properties).map(([name, schema]) => [name, fieldCheckOf(schema)]));
  return value => {
    const fields = value as Readonly<Record<string, unknown>> | null | undefined;
    for (const name in fields) {
      const check = checks.get(name);
      if (check === undefined) throw new Error(`The schema has no field \`${name}\``);
      if (check !== acceptAll) check(fields[name]);
    }
  };
}
