import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { isOk } from './is-ok.ts';

/** How often each replica's readiness is checked, and how long a check may take, in milliseconds. */
const CHECK_INTERVAL = 500;
const CHECK_TIMEOUT = 2_000;

/** Without rate-limit headers, which only a replica can compute. */
const NO_REPLICA = `HTTP/1.1 503 Service Unavailable\r
Content-Type: application/json; charset=utf-8\r
Retry-After: 1\r
Connection: close\r
\r
{"code":"service_unavailable","message":"No replica responds; nothing was changed. Try again shortly","status":503}`;

/**
 * Distributes the connections to one address over several replicas on ports of this machine. It does not read what they carry: a
 * replica that stops ends each connection after a response, and the next one leads to another replica. A replica that is not ready
 * gets connections only if no ready one accepts them: its own error states the reason best.
 */
export class Balancer {
  /** The ports, and whether the replica at each port is ready. */
  readonly #replicas = new Map<number, boolean>();
  readonly #clients = new Set<Socket>();
  readonly #server = createServer({ allowHalfOpen: true }, client => this.#serve(client));
  readonly #checker = setInterval(() => this.#checkAll(), CHECK_INTERVAL);
  #turn = 0;

  /** Returns the URL of the balancer. */
  async listen(host: string, port: number): Promise<string> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    const taken = this.#server.address() as AddressInfo;
    return `http://${host.includes(':') ? `[${host}]` : host}:${taken.port}`;
  }

  /** Adds the replica on a port. It gets connections when it is ready. */
  async add(port: number): Promise<void> {
    this.#replicas.set(port, false);
    await this.#check(port);
  }

  /** Removes the replica on a port. Its connections continue. */
  remove(port: number): void {
    this.#replicas.delete(port);
  }

  /** Accepts no more connections, and ends the open ones. */
  async close(): Promise<void> {
    clearInterval(this.#checker);
    for (const client of this.#clients) client.destroy();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }

  #serve(client: Socket): void {
    this.#clients.add(client);
    client.once('close', () => this.#clients.delete(client));
    // A client may disconnect at any time.
    client.on('error', () => {});
    this.#connect(client, this.#nextInTurn());
  }

  /** Connects a client with the first of these ports that accepts the connection. */
  #connect(client: Socket, [port, ...others]: readonly number[]): void {
    if (port === undefined) {
      client.end(NO_REPLICA);
      return;
    }
    const replica = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    const tryOthers = () => {
      if (this.#replicas.has(port)) this.#replicas.set(port, false);
      this.#connect(client, others);
    };
    replica.once('error', tryOthers);
    replica.once('connect', () => {
      replica.off('error', tryOthers);
      // The end of one of them ends the other, and a failure destroys both.
      pipeline(client, replica, client, () => {});
    });
  }

  /** Returns the ports in the order in which they are tried: the ready replicas first, then the others. */
  #nextInTurn(): number[] {
    const all = [...this.#replicas.keys()];
    const turn = this.#turn++;
    const ready = all.filter(port => this.#replicas.get(port));
    const others = all.filter(port => !this.#replicas.get(port));
    return [...rotated(ready, turn), ...rotated(others, turn)];
  }

  #checkAll(): void {
    for (const port of this.#replicas.keys()) void this.#check(port);
  }

  async #check(port: number): Promise<void> {
    const isReady = await isOk(`http://127.0.0.1:${port}/readyz`, AbortSignal.timeout(CHECK_TIMEOUT));
    if (this.#replicas.has(port)) this.#replicas.set(port, isReady);
  }
}

function rotated(ports: readonly number[], turn: number): number[] {
  const first = turn % Math.max(1, ports.length);
  return [...ports.slice(first), ...ports.slice(0, first)];
}
