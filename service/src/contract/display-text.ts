/**
 * The rules for the characters of texts that people read: names and descriptions. Patterns are those of ECMA-262 without flags that
 * change their meaning, so that validators of other languages read them too: only characters of the Basic Multilingual Plane,
 * and nothing that backtracks. decisions/0055 gives the reasons.
 */

/**
 * Characters that are invisible or change the order of the text around them, and that no script and no emoji needs. The marks
 * U+200E, U+200F and U+061C stay: texts that mix directions need them, and they cannot reverse other characters.
 */
const hidden: ReadonlyMap<number, string> = new Map([
  [0x00ad, 'SOFT HYPHEN'],
  [0x200b, 'ZERO WIDTH SPACE'],
  [0x2028, 'LINE SEPARATOR'],
  [0x2029, 'PARAGRAPH SEPARATOR'],
  [0x202a, 'LEFT-TO-RIGHT EMBEDDING'],
  [0x202b, 'RIGHT-TO-LEFT EMBEDDING'],
  [0x202c, 'POP DIRECTIONAL FORMATTING'],
  [0x202d, 'LEFT-TO-RIGHT OVERRIDE'],
  [0x202e, 'RIGHT-TO-LEFT OVERRIDE'],
  [0x2060, 'WORD JOINER'],
  [0x2061, 'FUNCTION APPLICATION'],
  [0x2062, 'INVISIBLE TIMES'],
  [0x2063, 'INVISIBLE SEPARATOR'],
  [0x2064, 'INVISIBLE PLUS'],
  [0x2066, 'LEFT-TO-RIGHT ISOLATE'],
  [0x2067, 'RIGHT-TO-LEFT ISOLATE'],
  [0x2068, 'FIRST STRONG ISOLATE'],
  [0x2069, 'POP DIRECTIONAL ISOLATE'],
  [0x206a, 'INHIBIT SYMMETRIC SWAPPING'],
  [0x206b, 'ACTIVATE SYMMETRIC SWAPPING'],
  [0x206c, 'INHIBIT ARABIC FORM SHAPING'],
  [0x206d, 'ACTIVATE ARABIC FORM SHAPING'],
  [0x206e, 'NATIONAL DIGIT SHAPES'],
  [0x206f, 'NOMINAL DIGIT SHAPES'],
  [0xfeff, 'ZERO WIDTH NO-BREAK SPACE'],
  [0xfff9, 'INTERLINEAR ANNOTATION ANCHOR'],
  [0xfffa, 'INTERLINEAR ANNOTATION SEPARATOR'],
  [0xfffb, 'INTERLINEAR ANNOTATION TERMINATOR'],
]);

/** The keys of `hidden`, as part of a class of characters. U+2065 is not assigned, and ignored when it is displayed. */
const HIDDEN = '\\u00ad\\u200b\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb';
const CONTROLS = '\\u0000-\\u001f\\u007f-\\u009f';
const SPACES = '\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000';
const BREAKS = '\\t-\\r';
/** What `trim` removes, without characters of `HIDDEN`. */
const TRIMMED = `[${BREAKS}${SPACES}]*`;

/**
 * A name has a visible character. Line breaks are allowed in white space around it, because that is trimmed. `before` matches what may
 * be between this white space and the first visible character.
 */
function namePattern(before: string, unseen: string): string {
  const visible = `[^${CONTROLS}${SPACES}${HIDDEN}${unseen}]`;
  return `^${TRIMMED}${before}${visible}[^${CONTROLS}${HIDDEN}]*([${BREAKS}]${TRIMMED})?$`;
}

export const NAME = namePattern('', '');

/**
 * Characters that scripts and emoji need, and that show nothing by themselves: joiners, marks, fillers, variation selectors, and the
 * tags in flags.
 */
const UNSEEN =
  '\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200c-\\u200f\\u2800\\u3164\\ufe00-\\ufe0f\\uffa0' +
  '\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}';

/** The same for the service, with the flag `u`: those characters do not count as visible. */
export const STRICT_NAME = namePattern(`([${UNSEEN}][${UNSEEN}${SPACES}]*)?`, UNSEEN);

/** Lines of text: tabs and line breaks are allowed. */
export const LINES = `^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f${HIDDEN}]*$`;

const hiddenOnce = new RegExp(`[${HIDDEN}]`);
const unsafe = new RegExp(`[${CONTROLS}${HIDDEN}]`, 'g');
const control = new RegExp(`[${CONTROLS}]`);
const invisible = new RegExp(`[${CONTROLS}${SPACES}${HIDDEN}${UNSEEN}]`, 'u');

/** The rule that a text breaks when it does not match its pattern, in words: "must …". */
export function ruleOfDisplayText(text: string): string {
  const found = hiddenOnce.exec(text)?.[0];
  if (found !== undefined) return `must not contain ${nameOf(found)}`;
  const trimmed = text.trim();
  if (trimmed === '') return 'must not be blank';
  if (control.test(trimmed)) return 'must not contain control characters';
  return 'must have a visible character';
}

/**
 * Returns a text with escapes (`\u202e`) in place of characters that would be invisible, reorder the text around them, or control the
 * terminal that shows it.
 */
export function withHiddenEscaped(text: string): string {
  return text.replace(unsafe, character => `\\u${hexOf(character)}`);
}

/** The name of a character that shows nothing by itself; `undefined` for others. */
export function nameOfInvisible(character: string): string | undefined {
  return invisible.test(character) ? nameOf(character) : undefined;
}

function nameOf(character: string): string {
  const name = hidden.get(character.charCodeAt(0));
  return `U+${hexOf(character).toUpperCase()}${name === undefined ? '' : ` ${name}`}`;
}

function hexOf(character: string): string {
  return character.codePointAt(0)!.toString(16).padStart(4, '0');
}
