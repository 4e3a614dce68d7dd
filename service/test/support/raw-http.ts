import type { ApiResponse } from './client.ts';
import { assertMatchesContract } from './contract.ts';
import { RawConnection } from './raw-connection.ts';

/**
 * Sends bytes to a server unchanged, for requests that no HTTP client would send, and returns the first response. An
 * error is checked against the contract like that of a request that is not an operation. Text is sent as Latin-1.
 */
export async function exchangeBytes(origin: string, bytes: string | Uint8Array): Promise<ApiResponse> {
  const connection = new RawConnection(origin);
  try {
    const [response] = await connection.exchange([{ method: 'GET', bytes }]);
    if (response!.status >= 400) assertMatchesContract({ method: 'GET', path: '/', ...response! });
    return response!;
  } finally {
    connection.socket.destroy();
  }
}
