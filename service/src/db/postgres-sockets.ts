import { Socket } from 'node:net';
import type { ClientConfig, PoolClient } from 'pg';
import { connectTimeoutOf } from '../kit/postgres-url.ts';

/** The code of CancelRequest (PostgreSQL, chapter 55.7). */
const CANCEL_REQUEST = 80_877_102;

/** All sockets to the server, including those of abandoned connections that wait for the server to close them. */
export class Sockets {
  readonly #open = new Set<Socket>();

  /**
   * Returns the options of a connection of the service.
   *
   * @param url of the database
   * @param responseTimeout how long to wait for the response to a statement, in milliseconds
   */
  optionsOf(url: string, responseTimeout: number): ClientConfig {
    return {
      connectionString: url,
      application_name: 'petstore',
      connectionTimeoutMillis: connectTimeoutOf(url),
      query_timeout: responseTimeout,
      keepAlive: true,
      stream: () => this.#create(),
    };
  }

  /** Returns a socket that is not connected yet. */
  #create(): Socket {
    const socket = new Socket();
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    return socket;
  }

  /**
   * Asks the server on another connection to end the statement of a client. Resolves with whether the server has read the request, and
   * so closed that connection, within `timeout` milliseconds. A proxy may have read it instead.
   */
  async requestCancel(client: PoolClient, timeout: number): Promise<boolean> {
    const { host, port, processID, secretKey } = client as PoolClient & Record<string, number>;
    const socket = this.#create();
    let isRead = false;
    socket.on('error', () => {});
    socket.once('end', () => {
      isRead = true;
    });
    const request = Buffer.alloc(16);
    for (const [i, value] of [request.length, CANCEL_REQUEST, processID!, secretKey!].entries())
      request.writeInt32BE(value, 4 * i);
    const address = String(host).startsWith('/')
      ? { path: `${host}/.s.PGSQL.${port}` }
      : { host: String(host), port: port! };
    const timer = setTimeout(() => socket.destroy(), timeout);
    socket.connect(address, () => socket.write(request)).resume();
    await closeOf(socket);
    clearTimeout(timer);
    return isRead;
  }

  cutOff(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** Resolves when all sockets that are open now are closed, even if they break meanwhile: whatever used them has reported that. */
  async closed(): Promise<void> {
    await Promise.all([...this.#open].map(closeOf));
  }
}

/** Resolves when a socket is closed, also after an error. */
function closeOf(socket: Socket): Promise<void> {
  return new Promise(resolve => socket.once('close', () => resolve()));
}
