import type { DropArgument, Server, Socket } from 'node:net';
import { ApiError } from '../contract/errors.ts';
import { addressSubject, type TrustedProxies } from '../kit/client-address.ts';
import { SECOND } from '../kit/clock.ts';
import { grouped } from '../kit/quantities.ts';

export interface ConnectionLimits {
  /** The maximum number of open connections. */
  total: number;
  /** The maximum number of open connections from one address; IPv6 addresses count by /64. Trusted proxies have no such limit. */
  perAddress: number;
}

/** The limit that a connection is over. */
export type ExceededLimit = 'total' | 'address';

export interface ConnectionLimitOptions extends ConnectionLimits {
  trustedProxies: TrustedProxies;
  /** Called for each connection over a limit. */
  onExcess: (address: string, limit: ExceededLimit) => void;
}

/** The settings of the limits. */
export const limitSettings: Readonly<Record<ExceededLimit, string>> = {
  total: 'PETSTORE_CONNECTIONS',
  address: 'PETSTORE_CONNECTIONS_PER_ADDRESS',
};

/** One connection over a limit for this many that are allowed may wait for its 503. Further ones are closed at once. */
const ALLOWED_PER_EXCESS = 4;

/** How long a connection over a limit may take to send a request, in milliseconds. */
const EXCESS_TIME = 5 * SECOND;

/** How long it may take to read its 503, in milliseconds: closing while a body arrives would reset the connection. */
const LINGER = SECOND;

/** When a client should try again, in seconds. */
const RETRY_AFTER = 1;

/**
 * Limits the open connections. A connection over a limit is accepted, gets a 503 for its first request, and is closed. Such
 * connections are limited as well, in number and time: otherwise they would be the way around the limits.
 */
export class ConnectionLimiter {
  readonly #options: ConnectionLimitOptions;
  readonly #byAddress = new Map<string, number>();
  #open = 0;
  /** The open connections that are over a limit. */
  readonly #excess = new Map<Socket, ExceededLimit>();

  constructor(options: ConnectionLimitOptions) {
    this.#options = options;
  }

  watch(server: Server): void {
    const { total, onExcess } = this.#options;
    server.maxConnections = total + this.#mostExcess;
    server.on('drop', (dropped?: DropArgument) =>
      onExcess(addressSubject(dropped?.remoteAddress ?? ''), 'total'),
    );
    server.on('connection', (socket: Socket) => this.#onConnection(socket));
  }

  /** Whether a connection ends with its next response, because it is over a limit. */
  isExcess(socket: Socket): boolean {
    return this.#excess.size > 0 && this.#excess.has(socket);
  }

  /** The error for each request of a connection that is over a limit; `undefined` for other connections. */
  rejectionOn(socket: Socket): ApiError | undefined {
    const limit = this.#excess.size > 0 ? this.#excess.get(socket) : undefined;
    return limit && tooManyConnections(limit, this.#options);
  }

  get #mostExcess(): number {
    return Math.ceil(this.#options.total / ALLOWED_PER_EXCESS);
  }

  #onConnection(socket: Socket): void {
    const { total, perAddress, trustedProxies, onExcess } = this.#options;
    const { remoteAddress = '' } = socket;
    const address = addressSubject(remoteAddress);
    const ofAddress = this.#byAddress.get(address) ?? 0;
    const isOverAddress = ofAddress >= perAddress && !trustedProxies.includes(remoteAddress);
    const limit = this.#open >= total ? 'total' : isOverAddress ? 'address' : undefined;
    if (limit) {
      onExcess(address, limit);
      if (this.#excess.size < this.#mostExcess) this.#awaitRequest(socket, limit);
      else socket.destroy();
      return;
    }
    this.#open++;
    this.#byAddress.set(address, ofAddress + 1);
    socket.once('close', () => {
      this.#open--;
      const left = this.#byAddress.get(address)! - 1;
      if (left > 0) this.#byAddress.set(address, left);
      else this.#byAddress.delete(address);
    });
  }

  /** Keeps a connection open for its first request. It closes when the client has read the response and closed its side. */
  #awaitRequest(socket: Socket, limit: ExceededLimit): void {
    this.#excess.set(socket, limit);
    const close = () => socket.destroy();
    let timer = setTimeout(close, EXCESS_TIME);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#excess.delete(socket);
    });
    // node:http calls this after the last response, and would not wait for bytes that are still in transit.
    socket.destroySoon = () => {
      socket.end();
      clearTimeout(timer);
      timer = setTimeout(close, LINGER);
    };
  }
}

function tooManyConnections(limit: ExceededLimit, { total, perAddress }: ConnectionLimits): ApiError {
  const retry = `send the request again after ${RETRY_AFTER} s`;
  const problem =
    limit === 'total'
      ? `${grouped(total)} connections are open, which is the maximum: ${retry}`
      : `Your address has ${grouped(perAddress)} open connections, which is the maximum: use fewer, or ${retry}`;
  const proxy = limit === 'address' ? ' or, for a proxy, name it in PETSTORE_TRUST_PROXY' : '';
  return new ApiError(
    'too_many_connections',
    `${problem}; an operator can raise ${limitSettings[limit]}${proxy}`,
    { 'retry-after': String(RETRY_AFTER) },
  );
}
