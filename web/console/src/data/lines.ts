/** The values of a field with one on each line: lines without text have none. */
export function filled(lines: readonly string[]): string[] {
  return lines.map(line => line.trim()).filter(line => line !== '');
}

/** The same; `null`, which means no limit, if no line has text. */
export function filledOrNull(lines: readonly string[] | null): string[] | null {
  const values = filled(lines ?? []);
  return values.length > 0 ? values : null;
}
