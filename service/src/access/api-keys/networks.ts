import { ApiError } from '../../contract/errors.ts';
import { isAddressRange } from '../../kit/client-address.ts';

/** The maximum number of networks of a key. */
export const MAX_NETWORKS = 50;

/** Throws `invalid_request` for a text that is neither an address nor a range of addresses. */
export function rejectOtherThanNetworks(networks: readonly string[] | undefined): void {
  const wrong = networks?.find(network => !isAddressRange(network));
  if (wrong === undefined) return;
  throw new ApiError(
    'invalid_request',
    `Field \`allowedNetworks\`: \`${wrong}\` is neither an address nor a range of addresses, such as \`203.0.113.7\`, ` +
      '`203.0.113.0/24` and `2001:db8::/32`',
  );
}
