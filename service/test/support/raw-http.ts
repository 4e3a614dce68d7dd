import { connect } from 'node:net';
import type { ApiResponse } from './client.ts';
import { assertMatchesContract } from './contract.ts';

/**
 * Sends bytes to a server unchanged, for requests that no HTTP client would send, and returns the first response. An
 * error is checked against the contract like that of a request that is not an operation. Text is sent as Latin-1.
 */
export async function exchangeBytes(origin: string, bytes: string | Uint8Array): Promise<ApiResponse> {
  const response = parseResponse(await firstResponse(origin, bytes));
  if (response.status >= 400) assertMatchesContract({ method: 'GET', path: '/', ...response });
  return response;
}

/** The bytes of the first response, as Latin-1. */
function firstResponse(origin: string, bytes: string | Uint8Array): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname, () => socket.write(Buffer.from(bytes as string, 'latin1')));
  let received = '';
  socket.setEncoding('latin1');
  socket.on('data', text => {
    received += text;
    if (isWhole(received)) socket.destroy();
  });
  socket.on('error', reject);
  socket.on('close', () => {
    if (isWhole(received)) resolve(received);
    else reject(new Error(`The connection was closed after ${JSON.stringify(received)}`));
  });
  return promise;
}

function isWhole(response: string): boolean {
  const bodyStart = response.indexOf('\r\n\r\n') + 4;
  const length = Number(/^content-length: (\d+)\r$/im.exec(response)?.[1] ?? 0);
  return bodyStart > 3 && response.length >= bodyStart + length;
}

/** The body may be missing, as in a response to HEAD. An incomplete body is not valid JSON and throws. */
export function parseResponse(response: string): ApiResponse {
  const bodyStart = response.indexOf('\r\n\r\n') + 4;
  const [statusLine = '', ...lines] = response.slice(0, bodyStart - 4).split('\r\n');
  const headers = Object.fromEntries(
    lines.map(line => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = response.slice(bodyStart, bodyStart + Number(headers['content-length'] ?? 0));
  const text = Buffer.from(body, 'latin1').toString();
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    text,
    body: text === '' ? undefined : JSON.parse(text),
  };
}
