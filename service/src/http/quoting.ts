import { BODY_LIMIT } from '../contract/request-limits.ts';
import { shortened } from '../kit/text.ts';

/** The maximum number of characters of a value that a message quotes. */
const QUOTED_LENGTH = 60;

/** Marks the digits of a number that is quoted as it was sent. A rejected text of this form is quoted like a number. */
const AS_SENT = '\0';

/** A client's value as JSON, shortened, so that the message stays readable. */
export function shown(value: unknown): string {
  // JSON has no infinity, but 1e400 is parsed as infinity.
  const json = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? 'nothing');
  const digits = json.replaceAll(/"\\u0000(-?\d[\d.eE+-]*)"/g, '$1');
  return shortened(digits, QUOTED_LENGTH);
}

/** A name in backticks, or as JSON if it has characters that could be mistaken for a part of the message. */
export function shownName(name: string): string {
  return /^[\w.$-]{1,60}$/.test(name) ? `\`${name}\`` : shown(name);
}

/** Makes `shown` quote a number exactly: the digits replace the number, which a double may have rounded. */
export function numberAsSent(digits: string): string {
  return AS_SENT + digits;
}

/** Numbers with 16 or more digits or an exponent, and strings, whose digits are not numbers. */
const STRING_OR_LARGE_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]{15,}|-?\d[\d.]*[eE][+-]?\d+/g;

/**
 * Parses a valid JSON text so that `shown` quotes its numbers exactly. Returns `undefined` for a text with only small numbers, and
 * for one that is too long to be read again. A reviver would receive the source of each number, but takes 30 ms for 64 KiB.
 */
export function parseAsSent(json: string): unknown {
  if (json.length > BODY_LIMIT || !/\d{16}|\d[eE]/.test(json)) return undefined;
  const marked = json.replaceAll(STRING_OR_LARGE_NUMBER, token =>
    token.startsWith('"') ? token : JSON.stringify(numberAsSent(token)),
  );
  return JSON.parse(marked);
}

/** The message with the IDs of the path as they were sent: as numbers they are rounded beyond 2^53. */
export function withIdsAsSent(message: string, params: unknown): string {
  return Object.values(params ?? {}).reduce<string>((quoted, text) => {
    const id = Number(text);
    const isRounded = Number.isInteger(id) && !Number.isSafeInteger(id);
    return isRounded ? quoted.replaceAll(String(id), String(text)) : quoted;
  }, message);
}
