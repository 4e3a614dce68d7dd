/** A user's edit of an item, while other clients may change the item. */
export interface Edit<T extends object> {
  /** The version that the edit is based on. */
  base: T;
  /** What the form shows. */
  draft: T;
  /** The other side's value of each field that both sides changed, until the user has chosen one. */
  conflicts: Partial<T>;
  /** What the user typed into fields that can no longer change. */
  dropped?: Partial<T>;
}

export function startEdit<T extends object>(base: T): Edit<T> {
  return { base, draft: base, conflicts: {} };
}

/** The fields that the user changed, as a merge patch (RFC 7396). */
export function changesOf<T extends object>({ base, draft }: Edit<T>): Partial<T> {
  // A field that the user has emptied is missing in a stored draft.
  const changed = fieldsOf({ ...base, ...draft }).filter(field => !isSame(draft[field], base[field]));
  return Object.fromEntries(changed.map(field => [field, draft[field]])) as Partial<T>;
}

/**
 * Merges a newer version of the item. A field that only the other side changed takes the new value. A field that both sides
 * changed to different values keeps the user's, and becomes a conflict. What the user has saved since the edit began is no change by
 * the other side.
 */
export function receive<T extends object>(edit: Edit<T>, theirs: T, ...saved: Partial<T>[]): Edit<T> {
  const { draft, conflicts, dropped } = edit;
  const arrived = saved.flatMap(values =>
    fieldsOf(values as T).filter(field => isSame(values[field], theirs[field])),
  );
  const base: T = { ...edit.base, ...Object.fromEntries(arrived.map(field => [field, theirs[field]])) };
  const merged = { ...draft };
  const open = { ...conflicts };
  for (const field of fieldsOf({ ...base, ...theirs })) {
    if (isSame(draft[field], base[field])) merged[field] = theirs[field];
    if (isSame(theirs[field], merged[field])) delete open[field];
    else if (!isSame(theirs[field], base[field])) open[field] = theirs[field];
  }
  return { base: theirs, draft: merged, conflicts: open, ...(dropped && { dropped }) };
}

/** Takes the other side's values of fields that can no longer change. */
export function fix<T extends object>(edit: Edit<T>, fields: readonly (keyof T)[]): Edit<T> {
  const { base, draft, conflicts, dropped } = edit;
  const lost = fields.filter(field => !isSame(draft[field], base[field]));
  if (lost.length === 0) return edit;
  const valuesOf = (item: Partial<T>) =>
    Object.fromEntries(lost.map(field => [field, item[field]])) as Partial<T>;
  return {
    base,
    draft: { ...draft, ...valuesOf(base) },
    conflicts: Object.fromEntries(
      Object.entries(conflicts).filter(([field]) => !lost.includes(field as keyof T)),
    ) as Partial<T>,
    dropped: { ...dropped, ...valuesOf(draft) },
  };
}

export function forgetDropped<T extends object>({ dropped, ...edit }: Edit<T>): Edit<T> {
  return edit;
}

export function setField<T extends object, Field extends keyof T>(
  edit: Edit<T>,
  field: Field,
  value: T[Field],
): Edit<T> {
  return { ...edit, draft: { ...edit.draft, [field]: value } };
}

/** Ends the conflict about a field with the user's value, or with that of the other side. */
export function resolve<T extends object>(edit: Edit<T>, field: keyof T, choice: 'mine' | 'theirs'): Edit<T> {
  const { [field]: theirs, ...conflicts } = edit.conflicts;
  const chosen = choice === 'mine' ? edit : setField(edit, field, theirs as T[keyof T]);
  return { ...chosen, conflicts: conflicts as Partial<T> };
}

export function hasConflicts({ conflicts }: Edit<object>): boolean {
  return Object.keys(conflicts).length > 0;
}

function fieldsOf<T extends object>(item: T): (keyof T)[] {
  return Object.keys(item) as (keyof T)[];
}

/** Whether two values of a field are equal. The service sends the parts of a list or an object in the same order each time. */
export function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
