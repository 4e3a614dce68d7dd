import type { KeyEnd } from '../../access/api-keys/key-ring.ts';
import { containsForm, hasForm, isWellFormed } from '../../access/api-keys/secret.ts';
import { ApiError } from '../../contract/errors.ts';
import { formatDateTime } from '../../kit/dates.ts';

/**
 * The error for an invalid API key, with the reason that the service knows. `end` is how the key ended. The message never repeats the key.
 */
export function invalidKey(presented: string, end: KeyEnd | undefined): ApiError {
  return new ApiError('invalid_api_key', reasonFor(presented, end), {
    'www-authenticate': 'Bearer realm="petstore", error="invalid_token"',
  });
}

function reasonFor(presented: string, end: KeyEnd | undefined): string {
  if (end) {
    const remedy = `${end.reason === 'expired' ? 'use its new secret, or ' : ''}ask an administrator for another key`;
    return `The API key ${end.reason === 'expired' ? 'expired' : 'was revoked'} at ${formatDateTime(end.at)}: ${remedy}`;
  }
  if (isWellFormed(presented)) return 'The API key is unknown: use another key';
  if (hasForm(presented))
    return 'The API key is mistyped, because its checksum does not match: copy the key again';
  if (containsForm(presented)) {
    return 'The API key is in quotes, or has other characters around it: send the key alone';
  }
  // What programs and shells send instead.
  if (/^(undefined|null|\$\{?\w+\}?)?$/.test(presented))
    return 'The API key is empty, because the variable that should contain it has no value';
  return 'This is not an API key, which begins with `psk_` and ends with 38 letters and digits: copy the key again';
}
