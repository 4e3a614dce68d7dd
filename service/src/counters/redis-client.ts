import type { RedisOptions } from 'ioredis';
import { decideScript } from './decide-script.ts';
import { DecisionBatches, type RunDecisions } from './decision-batches.ts';

export interface RedisClient {
  /** Has `decide.lua` answer a question about the subject whose state is under `key`, both as packed-state.ts packs them. */
  decide(key: string, question: string): Promise<string>;
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

const clientOptions = {
  scripts: {
    runDecisions: { lua: decideScript },
    // A cluster finds the node by the first argument, so that must be the key and not a number of keys.
    decideOne: { lua: decideScript, numberOfKeys: 1 },
  },
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

/** Batches wait for the end of the turn by themselves. */
const singleOptions = { autoPipeliningIgnoredCommands: ['runDecisions'] };

/** Several URLs are nodes of a cluster, of which the others are found; user and password are those of the first. */
export async function redisConnection(urls: readonly string[]): Promise<RedisConnection> {
  // Loaded only where it is used: without Redis a start does not wait for it.
  const { Cluster, Redis } = await import('ioredis');
  const nodes = urls.map(url => nodeAt(url));
  const isCluster = nodes.length > 1;
  const connection = !isCluster
    ? new Redis({ ...clientOptions, ...singleOptions, ...nodes[0]! })
    : new Cluster(hostsOf(nodes), clusterOptions(nodes[0]!));
  let lastError = new Error('The connection was closed');
  // Without a listener it would be written to the console.
  connection.on('error', error => {
    lastError = error;
  });
  // Of the scripts ioredis makes methods.
  const scripts = connection as unknown as ScriptMethods;
  const batches = new DecisionBatches((...values) => scripts.runDecisions(...values));
  // The keys of one command would have to be on one node.
  const decideAlone = async (key: string, question: string) => (await scripts.decideOne(key, question))[0]!;
  return {
    client: {
      decide: isCluster ? decideAlone : (key, question) => batches.decide(key, question),
      get: key => connection.get(key),
      set: (key, value, condition) => connection.set(key, value, condition),
    },
    open: () =>
      connection.connect().catch(() => {
        throw lastError;
      }),
    onEnd: listener => void connection.once('end', () => listener(lastError)),
    end: () => connection.disconnect(),
  };
}

interface ScriptMethods {
  runDecisions: RunDecisions;
  decideOne(key: string, question: string): Promise<string[]>;
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
