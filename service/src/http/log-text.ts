import { SECRET_START, withoutSecrets } from '../contract/secret-forms.ts';
import { shortened } from '../kit/text.ts';

/** The maximum number of characters of a client's text that are logged. */
export const MAX_LOGGED = 256;

/** The maximum number of characters that are read: three for each logged one, in case all are escaped, and a secret at the end. */
const MAX_READ = 3 * (MAX_LOGGED + 64);

/** Text that needs masking or escaping: non-printable or non-ASCII characters, characters that JSON or a URL escapes, and secrets. */
const SPECIAL = new RegExp(String.raw`[^ !#$&-[\]-~]|${SECRET_START}|[0-9A-Za-z]{32}`, 'i');

/** Escapes of letters, digits and `_`, which are equivalent to the plain character (RFC 3986 §6.2.2.2). */
const NEEDLESS_ESCAPE = /%(3[0-9]|[46][1-9a-f]|[57][0-9a]|[46]f|5f)/gi;

/** The random part of a key, whatever precedes it. */
const LONG_RUN = /[0-9A-Za-z]{32,}/g;

/** A client's text for logs and traces: shortened, and without anything that can be a secret of the service. */
export function maskedText(text: string): string {
  const readable = text
    .slice(0, MAX_READ)
    .replace(NEEDLESS_ESCAPE, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return shortened(withoutSecrets(readable).replace(LONG_RUN, '…'), MAX_LOGGED);
}

/**
 * A client's text for a JSON text in a log line, without the quotes: masked, and in ASCII, so that it can neither forge a line nor control
 * the terminal that shows it.
 */
export function loggedText(text: string): string {
  if (text.length <= MAX_LOGGED && !SPECIAL.test(text)) return text;
  return JSON.stringify(maskedText(text))
    .slice(1, -1)
    .replace(/[\u007f-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
