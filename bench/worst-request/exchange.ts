import { connect } from 'node:net';
import { requestText } from '../harness/http.ts';

/** A request as it is sent, on a separate connection. Text is sent as Latin-1. */
export interface RawRequest {
  /** The name in the results. */
  name: string;
  bytes: string;
}

interface Parts {
  apiKey: string;
  headers?: Record<string, string>;
  body?: string | undefined;
}

export function rawRequest(method: string, target: string, { apiKey, headers, body }: Parts): RawRequest {
  const name = `${method} ${target}`;
  const bytes = requestText(method, target, apiKey, { headers: { Connection: 'close', ...headers }, body });
  return { name: name.length > 120 ? `${name.slice(0, 117)}…` : name, bytes };
}

export interface RawResponse {
  status: number;
  head: string;
}

/** Sends a request, and reads until the server closes the connection. */
export function exchange(port: number, { bytes }: Pick<RawRequest, 'bytes'>): Promise<RawResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
  const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  socket.on('error', reject);
  socket.on('close', () => {
    const [head = ''] = received.split('\r\n\r\n', 1);
    resolve({ status: Number(head.slice(9, 12)), head });
  });
  return promise;
}
