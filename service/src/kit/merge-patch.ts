/** Applies a JSON merge patch (RFC 7396 §2) to an object without nested objects: null removes, the rest replaces. */
export function mergePatch<T extends object>(target: T, patch: object): T {
  const merged = { ...target } as Record<string, unknown>;
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field];
    else merged[field] = value;
  }
  return merged as T;
}
