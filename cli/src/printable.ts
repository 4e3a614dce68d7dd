// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that a terminal would execute
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Escapes the characters that would move the cursor, change colours or reorder text on a terminal. */
export function printable(text: string): string {
  return text.replace(CONTROL, escapeOf);
}

/** Returns a value as JSON in one line, without characters that a terminal would execute. */
export function json(value: unknown): string {
  return printable(JSON.stringify(value));
}

const short: Record<string, string> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function escapeOf(character: string): string {
  return short[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
