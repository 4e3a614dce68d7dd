import { on } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { ApiResponse } from './client.ts';

interface RawRequest {
  method: string;
  /** The whole request, including the body. */
  bytes: string | Uint8Array;
}

const STATUS_LINE = /HTTP\/1\.1 \d{3} /g;

/** A connection to a server, for bytes that no HTTP client would send. Text is Latin-1. */
export class RawConnection {
  readonly socket: Socket;
  received = '';
  #failure: Error | undefined;

  constructor(origin: string) {
    const { hostname, port } = new URL(origin);
    this.socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    this.socket.setEncoding('latin1');
    this.socket.on('data', text => {
      this.received += text;
    });
    this.socket.once('end', () => this.socket.destroy());
    this.socket.once('error', error => {
      this.#failure = error;
    });
  }

  send(bytes: string | Uint8Array): void {
    this.socket.write(bytes as string, 'latin1');
  }

  /** Sends requests before the first response arrives (RFC 9112 §9.3.2), and returns their responses, in order. */
  async exchange(requests: readonly RawRequest[]): Promise<ApiResponse[]> {
    this.received = '';
    // In one write, so that the server reads them together.
    this.socket.cork();
    for (const { bytes } of requests) this.send(bytes);
    this.socket.uncork();
    for await (const _ of on(this.socket, 'data', { close: ['close'] })) {
      const responses = splitResponses(this.received).slice(0, requests.length);
      if (responses.length === requests.length && isWhole(responses.at(-1)!, requests.at(-1)!.method))
        return responses.map(parseResponse);
    }
    throw new Error(`The connection was closed after ${JSON.stringify(this.received)}`);
  }

  /** Resolves when either side has closed the connection. */
  async closed(): Promise<void> {
    if (!this.socket.closed) await new Promise(resolve => this.socket.once('close', resolve));
  }

  /**
   * The responses until the server ended the connection. Throws when the connection broke or a response is incomplete.
   */
  async responses(): Promise<ApiResponse[]> {
    await this.closed();
    if (this.#failure) throw this.#failure;
    return splitResponses(this.received).map(parseResponse);
  }
}

/** Sends bytes at once, and returns the responses until the server ended the connection. */
export function exchangeUntilEnd(origin: string, bytes: string): Promise<ApiResponse[]> {
  const connection = new RawConnection(origin);
  connection.send(bytes);
  return connection.responses();
}

function splitResponses(received: string): string[] {
  const later = Array.from(received.matchAll(STATUS_LINE), ({ index }) => index).filter(index => index > 0);
  return [0, ...later].map((start, i) => received.slice(start, later[i]));
}

function isWhole(response: string, method: string): boolean {
  const bodyStart = response.indexOf('\r\n\r\n') + 4;
  const length = method === 'HEAD' ? 0 : Number(/^content-length: (\d+)\r$/im.exec(response)?.[1] ?? 0);
  return bodyStart > 3 && response.length >= bodyStart + length;
}

/** The body may be missing, as in a response to HEAD. An incomplete body is not valid JSON and throws. */
function parseResponse(response: string): ApiResponse {
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
