/** The values of a field with one on each line: lines without text have none. */
export function filled(lines: readonly string[]): string[] {
  return lines.map(line => line.trim()).filter(line => line !== '');
}
