import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { forward, hasBody } from './forward.ts';

/** How often each replica is asked whether it is ready, and how long its answer may take, in milliseconds. */
const CHECK_INTERVAL = 500;
const CHECK_TIMEOUT = 2_000;

/** More than the service takes (16 KiB), whose own rejection says what was wrong. */
const MAX_HEADER_BYTES = 32 * 1024;

/** Sent again they change nothing more (RFC 9110 §9.2.1). */
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/**
 * One address for several replicas on ports of this machine, which take turns. A replica that does not answer `/readyz`
 * has no turn until it does again, unless no other answers at all: a service that is not ready knows best why.
 */
export class Balancer {
  readonly #agent = new Agent({ keepAlive: true });
  /** The ports, and whether who listens there is ready. */
  readonly #replicas = new Map<number, boolean>();
  readonly #server = createServer({ requireHostHeader: false, maxHeaderSize: MAX_HEADER_BYTES });
  readonly #checker = setInterval(() => this.#checkAll(), CHECK_INTERVAL);
  #turn = 0;

  constructor() {
    const answer = (incoming: IncomingMessage, response: ServerResponse) =>
      void this.#answer(incoming, response);
    this.#server.on('request', answer);
    // The replica decides whether the body is to be sent.
    this.#server.on('checkContinue', answer);
    this.#server.on('checkExpectation', answer);
  }

  /** Answers with its URL. */
  async listen(host: string, port: number): Promise<string> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    const taken = this.#server.address() as AddressInfo;
    return `http://${host.includes(':') ? `[${host}]` : host}:${taken.port}`;
  }

  /** Gives the replica on a port its turns, from when it is ready. */
  async add(port: number): Promise<void> {
    this.#replicas.set(port, false);
    await this.#check(port);
  }

  /** Gives the replica on a port no more turns. Requests that it is answering go on. */
  remove(port: number): void {
    this.#replicas.delete(port);
  }

  /** Takes no more requests, and answers those in flight, for at most so many milliseconds. */
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

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const port of this.#nextInTurn()) {
      const outcome = await forward(incoming, response, port, this.#agent);
      if (outcome === 'answered' || response.destroyed) return;
      if (this.#replicas.has(port)) this.#replicas.set(port, false);
      const repeatable = SAFE_METHODS.includes(incoming.method!) && !hasBody(incoming);
      if (outcome === 'broken off' && !repeatable) {
        const unknown =
          'The replica broke off, so a change may have been made or not. Look before you send it again';
        reject(response, 502, unknown);
        return;
      }
    }
    reject(response, 503, 'No replica answers; nothing was changed. Try again shortly');
  }

  /** Whose turn it is, followed by those who stand in for it: last of all those who may have become ready just now. */
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

/** `undefined` when there is no answer in time. */
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

/** Answers in the service's form. Of rate limits only a replica could tell. */
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
