import { patch, type Rejection, withHeaders } from './rejected-request.ts';

/** Headers that get 400 `invalid_request`. */
export const rejectedHeaders: Rejection[] = [
  [
    'an Idempotency-Key that is empty, too long or not printable ASCII',
    /^Idempotency-Key must have 1 to 255 printable ASCII characters/,
    withHeaders('idempotency-key', [
      '',
      '""',
      'a'.repeat(256),
      `"${'a'.repeat(256)}"`,
      'clé',
      'a\tb',
      '"\u00ff"',
    ]),
  ],
  [
    'an If-Match that is not a list of ETags',
    /^Header `If-Match` must be an ETag in double quotes, such as "[\da-f]{16}", but was /,
    withHeaders('if-match', ['garbage', '"', ',', '* *', '*, "a"', '"a" "b"', '"a", abc', 'w/"a"'], patch),
  ],
];
