import { isUtf8 } from 'node:buffer';
import { nameOfInvisible } from '../contract/display-text.ts';
import { ApiError } from '../contract/errors.ts';
import { BODY_LIMIT } from '../contract/request-limits.ts';
import { grouped } from '../kit/quantities.ts';
import { asError } from '../kit/thrown.ts';
import { shownName } from './quoting.ts';

/** The maximum number of levels of nesting in a body. The deepest shape of the contract has 2. */
const MAX_DEPTH = 32;

/**
 * The maximum number of fields, objects and arrays in a body over 64 KiB, which take the parser up to a microsecond each. A batch of
 * 1,000 operations has at most 14,004; the rest is for texts that contain what looks like one.
 */
const MAX_PARTS = 16_000;

/** The mark with which some editors and programs of Windows begin a file (U+FEFF). */
const BYTE_ORDER_MARK = 0xfeff;

/**
 * Decodes UTF-8, and ignores a byte order mark at the start, as RFC 8259 §8.1 allows. Throws `invalid_request` for bytes that are
 * not UTF-8.
 */
export function utf8Text(bytes: Buffer): string {
  if (!isUtf8(bytes))
    throw new ApiError('invalid_request', 'The body is not valid UTF-8: encode it as UTF-8');
  const text = bytes.toString();
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}

/**
 * Parses well-formed text as JSON (RFC 8259). Returns `undefined` for an empty text. Throws `invalid_request` for text that is
 * not JSON or nests too deep, for a name that appears twice in an object, and for half of a surrogate pair.
 */
export function parseJson(json: string): unknown {
  if (json === '') return undefined;
  const mostFields = mostFieldsIn(json);
  if (json.length > BODY_LIMIT) rejectTooManyParts(json, mostFields);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new ApiError('invalid_request', `The body is not valid JSON: ${faultOf(json, asError(error))}`);
  }
  // The parser keeps one of two fields with the same name. Reading the text again is many times slower than counting.
  if (fieldsOf(value, 0) < mostFields) rejectRepeatedNames(json);
  // Well-formed text can contain half of a surrogate pair only as an escape.
  if (json.includes('\\u')) rejectHalfPairs(value, '');
  return value;
}

/** Describes why a text is not JSON: with the name of the character if it shows nothing by itself, otherwise as the parser does. */
function faultOf(json: string, { message }: Error): string {
  const at = faultPosition(json, message);
  const code = at === undefined ? undefined : json.codePointAt(at);
  const name = code === undefined ? undefined : nameOfInvisible(String.fromCodePoint(code));
  if (name !== undefined && message.startsWith('Bad control character'))
    return `${name} in a string, at position ${at}, must be written as \\u${code!.toString(16).padStart(4, '0')}`;
  if (name !== undefined && !isSpace(code!)) return `${name} is not allowed at position ${at}: remove it`;
  // The parser can cut a surrogate pair.
  return message.toWellFormed();
}

/** A string up to a character that JSON does not allow after a backslash, or a character that JSON has only in strings. */
const STRING_OR_OTHER = /"(?:[^"\\]|\\[ -~])*["\\]?|[^ -~\t\n\r]/gu;

/** Where the parser found the fault, as an index; `undefined` if it is not known. */
function faultPosition(json: string, message: string): number | undefined {
  const position = / at position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return Number(position);
  if (!/^Unexpected token '[^ -~]/.test(message)) return undefined;
  for (const { 0: part, index } of json.matchAll(STRING_OR_OTHER)) if (!part.startsWith('"')) return index;
  return undefined;
}

/** The number of fields of all objects in a value. Throws `invalid_request` when the value nests too deep. */
function fieldsOf(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth >= MAX_DEPTH) {
    throw new ApiError('invalid_request', `The body nests deeper than ${MAX_DEPTH} levels: send fewer`);
  }
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += fieldsOf(item, depth + 1);
    return count;
  }
  // A parsed object inherits no enumerable field; Object.values takes ten times as long.
  for (const name in value) count += 1 + fieldsOf((value as Record<string, unknown>)[name], depth + 1);
  return count;
}

/** An upper bound for the number of names in a valid JSON text: its colons after a quote, including those in strings. */
function mostFieldsIn(json: string): number {
  let count = 0;
  for (let colon = json.indexOf(':'); colon >= 0; colon = json.indexOf(':', colon + 1)) {
    let before = colon - 1;
    while (isSpace(json.charCodeAt(before))) before--;
    if (json.charCodeAt(before) === QUOTE) count++;
  }
  return count;
}

const QUOTE = 0x22;

/** Whether a character is white space of JSON (RFC 8259 §2). */
function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function rejectTooManyParts(json: string, mostFields: number): void {
  let parts = mostFields;
  for (const start of ['{', '[']) {
    for (let at = json.indexOf(start); at >= 0 && parts <= MAX_PARTS; at = json.indexOf(start, at + 1))
      parts++;
  }
  if (parts <= MAX_PARTS) return;
  throw new ApiError(
    'invalid_request',
    `The body has more than ${grouped(MAX_PARTS)} fields, objects and arrays: send several smaller ones`,
  );
}

/** A string, with a colon behind it if it is a name; or the start or end of an object. */
const TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g;

/** Rejects a repeated name, because parsers differ in which of the fields they use (RFC 8259 §4). `json` must be valid. */
function rejectRepeatedNames(json: string): void {
  const open: Set<string>[] = [];
  for (const [token, colon] of json.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon) {
      const name: string = JSON.parse(token.slice(0, -colon.length));
      const names = open.at(-1)!;
      if (names.has(name))
        throw new ApiError('invalid_request', `Field ${shownName(name)} appears twice: send it once`);
      names.add(name);
    }
  }
}

function rejectHalfPairs(value: unknown, path: string): void {
  if (typeof value === 'string' && !value.isWellFormed()) {
    throw new ApiError(
      'invalid_request',
      `${path || 'The body'} contains half of a surrogate pair, which is not a character: remove it, or send both halves`,
    );
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    if (!name.isWellFormed()) {
      throw new ApiError(
        'invalid_request',
        'A field name contains half of a surrogate pair, which is not a character: remove it, or send both halves',
      );
    }
    rejectHalfPairs(item, path || `Field ${shownName(name)}`);
  }
}
