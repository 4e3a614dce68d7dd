import { connect, type Socket } from 'node:net';
import type { ApiResponse } from './client.ts';
import { parseResponse } from './raw-http.ts';

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

  send(bytes: string): void {
    this.socket.write(bytes, 'latin1');
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
    return this.received.split(/(?=HTTP\/1\.1 \d{3} )/).map(parseResponse);
  }
}

/** Sends bytes at once, and returns the responses until the server ended the connection. */
export function exchangeUntilEnd(origin: string, bytes: string): Promise<ApiResponse[]> {
  const connection = new RawConnection(origin);
  connection.send(bytes);
  return connection.responses();
}
