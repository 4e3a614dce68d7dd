import { isRecord } from './objects.ts';

/** Applies a JSON merge patch (RFC 7396 §2): null removes a member, an object is merged, any other value replaces. */
export function mergePatch<T extends object>(target: T, patch: object): T {
  const merged = { ...target } as Record<string, unknown>;
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field];
    else if (isRecord(value)) merged[field] = mergePatch(isRecord(merged[field]) ? merged[field] : {}, value);
    else merged[field] = value;
  }
  return merged as T;
}
