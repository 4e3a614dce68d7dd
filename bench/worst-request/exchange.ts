import { connect } from 'node:net';

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

export function rawRequest(
  method: string,
  target: string,
  { apiKey, headers = {}, body }: Parts,
): RawRequest {
  const length =
    body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': body.length };
  const all = { Host: '127.0.0.1', 'X-API-Key': apiKey, Connection: 'close', ...length, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const name = `${method} ${target}`;
  const bytes = `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
  return { name: name.length > 120 ? `${name.slice(0, 117)}…` : name, bytes };
}

export interface RawResponse {
  status: number;
  head: string;
  body: string;
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
    const [head = '', body = ''] = received.split('\r\n\r\n', 2);
    resolve({ status: Number(head.slice(9, 12)), head, body });
  });
  return promise;
}
