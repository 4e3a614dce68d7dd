import type { Agent } from 'node:http';
import https from 'node:https';
import { isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import { SECOND } from '../../kit/clock.ts';
import { http } from '../../kit/node-http.ts';
import { type Connections, hostOf } from './connections.ts';

/** How long a connection is kept that carries nothing, in milliseconds: less than servers commonly keep one, 5 s. */
const IDLE = 4 * SECOND;

/** How long a connection is used, in milliseconds: a name that leads elsewhere by now is followed by then. */
const AGE = 60 * SECOND;

/**
 * Keeps connections to endpoints open between attempts. One goes only to the origin for which it was opened, and its address
 * was checked then. Those that carry nothing count among the limits: the oldest are closed where a new one needs the room.
 */
export class KeptConnections {
  readonly #connections: Connections;
  readonly #idle = new Map<Duplex, string>();
  readonly #agents: Readonly<Record<string, Agent>>;

  constructor(connections: Connections) {
    this.#connections = connections;
    const options = { keepAlive: true, timeout: IDLE };
    this.#agents = {
      'http:': this.#keeping(new http.Agent(options)),
      // Each connection shows its certificate: no session of an earlier one is resumed.
      'https:': this.#keeping(new https.Agent({ ...options, maxCachedSessions: 0 })),
    };
  }

  agentFor({ protocol }: URL): Agent {
    return this.#agents[protocol]!;
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  /** Has an agent keep connections within the limits. */
  #keeping(agent: Agent): Agent {
    const openedAt = new WeakMap<Duplex, number>();
    const hosts = new WeakMap<Duplex, string>();
    const { createConnection, keepSocketAlive, reuseSocket } = agent;
    agent.createConnection = (options, callback) => {
      const host = hostOf(`http://${isIPv6(options.host!) ? `[${options.host}]` : options.host}`);
      this.#makeRoom(host);
      const socket = createConnection.call(agent, options, callback)!;
      openedAt.set(socket, performance.now());
      hosts.set(socket, host);
      socket.once('close', () => this.#idle.delete(socket));
      return socket;
    };
    agent.keepSocketAlive = socket => {
      // What is falsy has the agent close it.
      const isYoung = performance.now() - openedAt.get(socket)! < AGE;
      const isKept = isYoung && (keepSocketAlive.call(agent, socket) as unknown as boolean);
      if (isKept) this.#idle.set(socket, hosts.get(socket)!);
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
