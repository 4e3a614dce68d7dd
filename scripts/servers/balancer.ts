import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { forward, hasBody } from './forward.ts';

/** How often each replica's readiness is checked, and how long a check may take, in milliseconds. */
const CHECK_INTERVAL = 500;
const CHECK_TIMEOUT = 2_000;

/** More than the service accepts (16 KiB), so that the client gets the service's own error. */
const MAX_HEADER_BYTES = 32 * 1024;

/** The methods that can be repeated without a further change (RFC 9110 §9.2.1). */
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Distributes the requests to one address over several replicas on ports of this machine. A replica that is not ready gets
 * requests only if no other replica responds: its own error states the reason best.
 */
export class Balancer {
  readonly #agent = new Agent({ keepAlive: true });
  /** The ports, and whether the replica at each port is ready. */
  readonly #replicas = new Map<number, boolean>();
  readonly #server = createServer({ requireHostHeader: false, maxHeaderSize: MAX_HEADER_BYTES });
  readonly #checker = setInterval(() => this.#checkAll(), CHECK_INTERVAL);
  #turn = 0;

  constructor() {
    const handle = (incoming: IncomingMessage, response: ServerResponse) =>
      void this.#handle(incoming, response);
    this.#server.on('request', handle);
    // The replica decides whether the client should send the body.
    this.#server.on('checkContinue', handle);
    this.#server.on('checkExpectation', handle);
  }

  /** Returns the URL of the balancer. */
  async listen(host: string, port: number): Promise<string> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    const taken = this.#server.address() as AddressInfo;
    return `http://${host.includes(':') ? `[${host}]` : host}:${taken.port}`;
  }

  /** Adds the replica on a port. It gets requests when it is ready. */
  async add(port: number): Promise<void> {
    this.#replicas.set(port, false);
    await this.#check(port);
  }

  /** Removes the replica on a port. Its requests in flight continue. */
  remove(port: number): void {
    this.#replicas.delete(port);
  }

  /** Accepts no more requests, and waits up to `milliseconds` for those in flight. */
  async close(milliseconds: number): Promise<void> {
    clearInterval(this.#checker);
    if (this.#server.listening) {
      const closed = once(this.#server, 'close');
      this.#server.close();
      const deadline = performance.now() + milliseconds;
      const closer = setInterval(() => {
        if (performance.now() < deadline) this.#server.closeIdleConnections();
        else this.#server.closeAllConnections();
      }, 20);
      await closed;
      clearInterval(closer);
    }
    this.#agent.destroy();
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const port of this.#nextInTurn()) {
      const outcome = await forward(incoming, response, port, this.#agent);
      if (outcome === 'responded' || response.destroyed) return;
      if (this.#replicas.has(port)) this.#replicas.set(port, false);
      const repeatable = SAFE_METHODS.includes(incoming.method!) && !hasBody(incoming);
      if (outcome === 'aborted' && !repeatable) {
        const unknown =
          'The replica closed the connection, so the change may or may not have been made. Check before you send it again';
        reject(response, 502, unknown);
        return;
      }
    }
    reject(response, 503, 'No replica responds; nothing was changed. Try again shortly');
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
    const status = await statusOf(port, '/readyz');
    if (this.#replicas.has(port)) this.#replicas.set(port, status === 200);
  }
}

function rotated(ports: readonly number[], turn: number): number[] {
  const first = turn % Math.max(1, ports.length);
  return [...ports.slice(first), ...ports.slice(0, first)];
}

/** Returns the status of a GET; `undefined` if there is no response in time. */
function statusOf(port: number, path: string): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const signal = AbortSignal.timeout(CHECK_TIMEOUT);
  request({ host: '127.0.0.1', port, path, agent: false, signal }, response => {
    response.resume().on('error', () => {});
    resolve(response.statusCode);
  })
    .on('error', () => resolve(undefined))
    .end();
  return promise;
}

/** Sends an error in the form of the service, without rate-limit headers, which only a replica can compute. */
function reject(response: ServerResponse, status: 502 | 503, message: string): void {
  const body = JSON.stringify({ code: 'service_unavailable', message, status });
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    ...(status === 503 ? { 'Retry-After': '1' } : {}),
  });
  response.end(body);
}
