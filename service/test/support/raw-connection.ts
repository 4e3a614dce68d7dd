import { connect, type Socket } from 'node:net';
import type { Answer } from './client.ts';
import { parseResponse } from './raw-http.ts';

/** A connection to a server, for bytes that no HTTP client would send. Text is Latin-1. */
export class RawConnection {
  readonly socket: Socket;
  received = '';
  readonly #ended: Promise<void>;

  constructor(origin: string) {
    const { hostname, port } = new URL(origin);
    this.socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    this.socket.setEncoding('latin1');
    this.socket.on('data', text => {
      this.received += text;
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.socket.once('end', resolve);
    this.socket.once('error', reject);
    this.#ended = promise;
  }

  send(bytes: string): void {
    this.socket.write(bytes, 'latin1');
  }

  /** The responses that came until the server ended the connection. Throws when one of them was cut off. */
  async responses(): Promise<Answer[]> {
    await this.#ended;
    this.socket.destroy();
    return this.received.split(/(?=HTTP\/1\.1 \d{3} )/).map(parseResponse);
  }
}

/** Sends bytes in one piece, and returns the responses that came until the server ended the connection. */
export function exchangeUntilEnd(origin: string, bytes: string): Promise<Answer[]> {
  const connection = new RawConnection(origin);
  connection.send(bytes);
  return connection.responses();
}
