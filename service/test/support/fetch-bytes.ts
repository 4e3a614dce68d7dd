import type { IncomingHttpHeaders } from 'node:http';
import { http } from '../../src/kit/node-http.ts';

export interface Fetched {
  status: number;
  headers: IncomingHttpHeaders;
  /** The bytes as sent: still encoded. */
  bytes: Buffer;
  text: string;
}

/**
 * Sends a request on its own connection, for responses that are not part of the API and so not checked against the
 * contract.
 */
export function fetchBytes(
  url: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Fetched> {
  const { promise, resolve, reject } = Promise.withResolvers<Fetched>();
  const sent = http.request(url, { method, headers, agent: false }, response => {
    const chunks: Buffer[] = [];
    response.on('data', chunk => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      const bytes = Buffer.concat(chunks);
      resolve({ status: response.statusCode!, headers: response.headers, bytes, text: bytes.toString() });
    });
  });
  sent.on('error', reject);
  sent.end(body);
  return promise;
}
