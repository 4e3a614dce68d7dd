import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RedisOptions } from 'ioredis';
import type { Verdict } from './decide.ts';

/** What `decide.lua` answers: verdict, whether the ban begins, the instant it decided at, and the packed state. */
export type ScriptAnswer = [verdict: Verdict, banBegins: 0 | 1, now: number, state: string];

export interface RedisClient {
  /** Runs `decide.lua`; null when the state is lost and no seed was sent. */
  decide(key: string, ...values: (string | number)[]): Promise<ScriptAnswer | null>;
  get(key: string): Promise<string | null>;
  /** Sets a key that is not there. */
  set(key: string, value: string, condition: 'NX'): Promise<'OK' | null>;
}

/** One connection, or those to the nodes of a cluster. It is not mended: once broken another takes its place. */
export interface RedisConnection {
  client: RedisClient;
  open(): Promise<void>;
  /** Is called when it broke, or could not be made. */
  onEnd(listener: (error: Error) => void): void;
  /** Ends it at once; what was not answered is rejected. */
  end(): void;
}

const lua = readFileSync(join(import.meta.dirname, 'decide.lua'), 'utf8');

const clientOptions = {
  scripts: { decide: { lua, numberOfKeys: 1 } },
  lazyConnect: true,
  // What one turn of the event loop asks goes out as one packet.
  enableAutoPipelining: true,
  enableOfflineQueue: false,
  // Others take the place of a connection that broke.
  retryStrategy: () => null,
  // The script that makes sure that it works finds out about data that are still being loaded, too.
  enableReadyCheck: false,
  autoResendUnfulfilledCommands: false,
  disableClientInfo: true,
  // In milliseconds: one that hangs is not waited for.
  disconnectTimeout: 1,
} as const satisfies RedisOptions;

/** Several URLs are nodes of a cluster, of which the others are found; user and password are those of the first. */
export async function redisConnection(urls: readonly string[]): Promise<RedisConnection> {
  // Loaded only where it is used: without Redis a start does not wait for it.
  const { Cluster, Redis } = await import('ioredis');
  const nodes = urls.map(url => nodeAt(url));
  const first = nodes[0]!;
  const connection =
    nodes.length === 1
      ? new Redis({ ...clientOptions, ...first })
      : new Cluster(hostsOf(nodes), clusterOptions(first));
  let lastError = new Error('The connection was closed');
  // Without a listener it would be written to the console.
  connection.on('error', error => {
    lastError = error;
  });
  return {
    client: connection as unknown as RedisClient,
    open: () =>
      connection.connect().catch(() => {
        throw lastError;
      }),
    onEnd: listener => void connection.once('end', () => listener(lastError)),
    end: () => connection.disconnect(),
  };
}

function hostsOf(nodes: RedisNode[]): { host: string; port: number }[] {
  return nodes.map(({ host, port }) => ({ host, port }));
}

function clusterOptions({ username, password, tls }: RedisNode) {
  const { scripts, lazyConnect, enableAutoPipelining, enableOfflineQueue, enableReadyCheck, ...ofNodes } =
    clientOptions;
  return {
    scripts,
    lazyConnect,
    enableAutoPipelining,
    enableOfflineQueue,
    enableReadyCheck,
    clusterRetryStrategy: () => null,
    redisOptions: { ...ofNodes, username, password, tls },
  };
}

interface RedisNode {
  host: string;
  port: number;
  username: string | undefined;
  password: string | undefined;
  db: number;
  tls: object | undefined;
}

function nodeAt(text: string): RedisNode {
  const { protocol, hostname, port, username, password, pathname } = new URL(text);
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || 6379),
    username: username ? decodeURIComponent(username) : undefined,
    password: password ? decodeURIComponent(password) : undefined,
    db: Number(pathname.slice(1) || 0),
    tls: protocol === 'rediss:' ? {} : undefined,
  };
}
