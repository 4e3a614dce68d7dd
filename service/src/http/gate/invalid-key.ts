import { containsForm, hasForm, isWellFormed } from '../../access/api-keys/secret.ts';
import { ApiError } from '../../contract/errors.ts';
import { formatDateTime } from '../../kit/dates.ts';

/**
 * The error for an invalid API key, with the reason that the service knows. `expiredAt` is the time at which the key expired, in
 * milliseconds since the Unix epoch. The message never repeats the key.
 */
export function invalidKey(presented: string, expiredAt: number | undefined): ApiError {
  return new ApiError('invalid_api_key', reasonFor(presented, expiredAt), {
    'www-authenticate': 'Bearer realm="petstore", error="invalid_token"',
  });
}

function reasonFor(presented: string, expiredAt: number | undefined): string {
  if (expiredAt !== undefined) {
    return `The API key expired at ${formatDateTime(expiredAt)}: use its new secret, or ask an administrator for another key`;
  }
  if (isWellFormed(presented)) return 'The API key is unknown, expired or revoked: use another key';
  if (hasForm(presented))
    return 'The API key is mistyped, because its checksum does not match: copy the key again';
  if (containsForm(presented)) {
    return 'The API key is in quotes, or has other characters around it: send the key alone';
  }
  return 'This is not an API key, which begins with `psk_` and ends with 38 letters and digits: copy the key again';
}
