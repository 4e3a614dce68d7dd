/**
 * How the secrets that the service issues begin. All have such a prefix, so that texts which repeat input of a client can be searched
 * for them, whatever the client did with a secret.
 */
export const secretPrefixes = {
  /** API keys; publishable ones continue with `pub_`, and those for tests with `test_`. */
  key: 'psk_',
  /** The keys for signatures of webhooks. */
  webhook: 'whsec_',
  /** The tickets of links that sign in. */
  ticket: 'psin_',
} as const;

/** A prefix; in a URL each of its characters can be percent-encoded. */
const PREFIX = Object.values(secretPrefixes)
  .map(prefix => Array.from(prefix, character => `(?:${character}|%${hexOf(character)})`).join(''))
  .join('|');

/**
 * A character of a secret: base62 or base64, also of the form for URLs, percent-encoded, or escaped in JSON. Each form begins with another
 * character, so that nothing backtracks.
 */
const CHARACTER = String.raw`[\w+/=-]|%[\da-f]{2}|\\/|\\u00[\da-f]{2}`;

/** Fewer characters after the prefix are a part of a secret from which the rest cannot be guessed. */
const FEWEST_CHARACTERS = 32;

const SECRET_OR_PART = new RegExp(`(${PREFIX})(?:${CHARACTER})+`, 'gi');
const SECRET = new RegExp(`(?:${PREFIX})(?:${CHARACTER}){${FEWEST_CHARACTERS}}`, 'i');

/** A regular expression, without regard to case, for the beginning of a secret in a text without percent-encoding. */
export const SECRET_START = Object.values(secretPrefixes).join('|');

/** Masks secrets, even truncated ones, in a text that repeats input of a client. */
export function withoutSecrets(text: string): string {
  return text.replace(SECRET_OR_PART, (_, prefix: string) => `${decodeURIComponent(prefix).toLowerCase()}…`);
}

/** Whether a text has a whole secret, whatever is around it. */
export function hasSecret(text: string): boolean {
  return SECRET.test(text);
}

function hexOf(character: string): string {
  return character.charCodeAt(0).toString(16);
}
