/** Returns the IDs between two of them, in the order of the list. Without the first, only the second. */
export function rangeOf(ids: readonly number[], from: number, to: number): readonly number[] {
  const [start, end] = [ids.indexOf(from), ids.indexOf(to)];
  if (start < 0) return [to];
  return ids.slice(Math.min(start, end), Math.max(start, end) + 1);
}
