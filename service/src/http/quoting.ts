import { shortened } from '../kit/text.ts';

/** How much of a value one message repeats, in characters. */
const QUOTED_LENGTH = 60;

/** Precedes the digits of a number that is quoted as it was sent. No text that the service accepts contains it. */
const AS_SENT = '\0';

/** What was sent, as JSON, shortened: the message stays readable whatever the body held. */
export function shown(value: unknown): string {
  // JSON has no infinity, which is what 1e400 is read as.
  const json = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? 'nothing');
  return shortened(json.replaceAll(/"\\u0000(-?\d[\d.eE+-]*)"/g, '$1'), QUOTED_LENGTH);
}

/** A name in code marks, or as JSON where it holds what could be mistaken for the message. */
export function shownName(name: string): string {
  return /^[\w.$-]{1,60}$/.test(name) ? `\`${name}\`` : shown(name);
}

/** Makes `shown` quote a number exactly: the digits as text in place of the number, which a double may have rounded. */
export function numberAsSent(digits: string): string {
  return AS_SENT + digits;
}

/** Numbers of 16 digits or more or with an exponent, and strings, in which digits are no numbers. */
const STRING_OR_LARGE_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]{15,}|-?\d[\d.]*[eE][+-]?\d+/g;

/**
 * Parses a valid JSON text so that `shown` quotes its numbers exactly; `undefined` for a text whose numbers are small. A
 * reviver would see the source of each number, but takes 30 ms for 64 KiB.
 */
export function parseAsSent(json: string): unknown {
  if (!/\d{16}|\d[eE]/.test(json)) return undefined;
  const marked = json.replaceAll(STRING_OR_LARGE_NUMBER, token =>
    token.startsWith('"') ? token : JSON.stringify(numberAsSent(token)),
  );
  return JSON.parse(marked);
}

/** The message about a resource with the IDs of its path as they were sent: as numbers they are rounded beyond 2^53. */
export function withIdsAsSent(message: string, params: unknown): string {
  return Object.values(params ?? {}).reduce<string>((quoted, text) => {
    const id = Number(text);
    const isRounded = Number.isInteger(id) && !Number.isSafeInteger(id);
    return isRounded ? quoted.replaceAll(String(id), String(text)) : quoted;
  }, message);
}
