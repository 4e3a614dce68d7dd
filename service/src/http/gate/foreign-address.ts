import { ApiError } from '../../contract/errors.ts';
import { shownAddress } from '../../kit/client-address.ts';

/** The error for a request from an address that the key does not allow. It does not state whether the key is valid otherwise. */
export function addressNotAllowed(address: string): ApiError {
  return new ApiError(
    'address_not_allowed',
    `The API key cannot be used from the address ${shownAddress(address)}: send the request from a network that the key allows, or ` +
      'ask an administrator to add this address to its `allowedNetworks`',
  );
}
