import type { Agent } from 'node:http';
import https from 'node:https';
import { isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import { SECOND } from '../../kit/clock.ts';
import { http } from '../../kit/node-http.ts';
import { type Connections, hostOf } from './connections.ts';

/** How long an idle connection is kept, in milliseconds: less than the common limit of servers, 5 s. */
const MAX_IDLE = 4 * SECOND;

/** How long a connection is used, in milliseconds. After that a new connection looks up the name again. */
const MAX_AGE = 60 * SECOND;

/**
 * Keeps connections to endpoints open between attempts. A connection is used only for the origin for which it was opened; its
 * address was checked at that time. Idle connections count against the limits: the oldest are closed to make room for new ones.
 */
export class KeptConnections {
  readonly #connections: Connections;
  readonly #idle = new Map<Duplex, string>();
  readonly #http: Agent;
  readonly #https: Agent;

  constructor(connections: Connections) {
    this.#connections = connections;
    const options = { keepAlive: true, timeout: MAX_IDLE };
    this.#http = this.#keeping(new http.Agent(options));
    // TLS sessions are not resumed, so that each connection verifies the certificate.
    this.#https = this.#keeping(new https.Agent({ ...options, maxCachedSessions: 0 }));
  }

  agentFor({ protocol }: URL): Agent {
    return protocol === 'https:' ? this.#https : this.#http;
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  /** Makes an agent keep connections within the limits. */
  #keeping(agent: Agent): Agent {
    const opened = new WeakMap<Duplex, { host: string; at: number }>();
    const { createConnection, keepSocketAlive, reuseSocket } = agent;
    agent.createConnection = (options, callback) => {
      const host = hostOf(`http://${isIPv6(options.host!) ? `[${options.host}]` : options.host}`);
      this.#makeRoom(host);
      const socket = createConnection.call(agent, options, callback)!;
      opened.set(socket, { host, at: performance.now() });
      socket.once('close', () => this.#idle.delete(socket));
      return socket;
    };
    agent.keepSocketAlive = socket => {
      const { host, at } = opened.get(socket)!;
      const isYoung = performance.now() - at < MAX_AGE;
      // The agent closes the connection if the result is falsy. The declared return type is void.
      const isKept = isYoung && (keepSocketAlive.call(agent, socket) as unknown as boolean);
      if (isKept) this.#idle.set(socket, host);
      return isKept;
    };
    agent.reuseSocket = (socket, request) => {
      this.#idle.delete(socket);
      reuseSocket.call(agent, socket, request);
    };
    return agent;
  }

  #makeRoom(host: string): void {
    const { total, ofHost } = this.#connections.room(host);
    const idleOfHost = [...this.#idle].filter(([, other]) => other === host);
    for (const [socket] of idleOfHost.slice(0, Math.max(0, idleOfHost.length - ofHost))) this.#close(socket);
    for (const socket of [...this.#idle.keys()].slice(0, Math.max(0, this.#idle.size - total)))
      this.#close(socket);
  }

  #close(socket: Duplex): void {
    this.#idle.delete(socket);
    socket.destroy();
  }
}
