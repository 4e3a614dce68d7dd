import type { RedisOptions } from 'ioredis';
import { type RedisServer, type RedisTarget, redisTarget } from '../kit/redis-url.ts';
import { messageOf } from '../kit/thrown.ts';
import { decideScript } from './decide-script.ts';
import { DecisionBatches, type RunDecisions } from './decision-batches.ts';

/** One connection, or the connections to the nodes of a cluster. A broken one is not repaired but replaced. */
export interface RedisConnection {
  /**
   * Runs `decide.lua` for the subjects with the states at `keys`, of which up to three are decided together and have the same
   * hash tag. packed-state.ts packs the calls and unpacks the results.
   */
  decide(keys: readonly string[], calls: readonly string[]): Promise<string[]>;
  get(key: string): Promise<string | null>;
  setNew(key: string, value: string): Promise<'OK' | null>;
  open(): Promise<void>;
  /** Calls `listener` when the connection breaks, also if it broke before, or cannot be opened. */
  onEnd(listener: (error: Error) => void): void;
  /**
   * Sends a command to each node of a cluster, because a Redis with a `timeout` closes idle connections, and reads of one key reach only one
   * node. A loss is reported to the listener.
   */
  keepOpen(): void;
  /** Closes the connection at once; pending commands reject. */
  end(): void;
}

const clientOptions = {
  scripts: {
    runDecisions: { lua: decideScript },
    // A cluster selects the node by the first argument, which therefore must be the key and not the number of keys.
    decideOne: { lua: decideScript, numberOfKeys: 1 },
    decideTwo: { lua: decideScript, numberOfKeys: 2 },
    decideThree: { lua: decideScript, numberOfKeys: 3 },
  },
  lazyConnect: true,
  // Commands of one event-loop turn are sent as one packet.
  enableAutoPipelining: true,
  enableOfflineQueue: false,
  // RedisLink replaces a broken connection.
  retryStrategy: () => null,
  // The probe of RedisLink also detects a server that is still loading its data.
  enableReadyCheck: false,
  autoResendUnfulfilledCommands: false,
  disableClientInfo: true,
  // In milliseconds; does not wait for a connection that hangs.
  disconnectTimeout: 1,
} as const satisfies RedisOptions;

/**
 * Opens a connection. Several URLs are nodes of a cluster, which names its other nodes; sentinels name the present primary.
 *
 * @param keyPrefix begins the names of all keys
 */
export async function redisConnection(urls: readonly string[], keyPrefix = ''): Promise<RedisConnection> {
  // Loaded here, so that a start without Redis does not load it.
  const { Cluster, Redis } = await import('ioredis');
  const target = redisTarget(urls);
  const isCluster = target.kind === 'cluster';
  const connection = isCluster
    ? new Cluster(hostsOf(target.nodes), { ...clusterOptions(target.nodes[0]!), keyPrefix })
    : new Redis(singleOptions(target, keyPrefix));
  const nodes = () => (connection instanceof Cluster ? connection.nodes('master') : []);
  const { promise: ended, resolve: noteEnd } = Promise.withResolvers<void>();
  // A cluster ends only when it has no node left.
  connection.once('end', noteEnd);
  let lastError = new Error('The connection was closed');
  // Without a listener, ioredis would write the error to the console.
  connection.on('error', error => {
    lastError = rejectionOf(error) ?? error;
  });
  // ioredis adds a method for each script.
  const scripts = connection as unknown as ScriptMethods;
  const batches = new DecisionBatches((...values) => scripts.runDecisions(...values));
  return {
    // In a cluster, all keys of one command would have to be on one node.
    decide: isCluster
      ? (keys, calls) => scripts[ofSize[keys.length]!](...keys, ...calls)
      : (keys, calls) => batches.decide(keys, calls),
    get: key => connection.get(key),
    setNew: (key, value) => connection.set(key, value, 'NX'),
    open: async () => {
      await connection.connect().catch(() => {
        throw lastError;
      });
      // Before the pings, so that no loss is missed. The event `-node` would also report nodes that only named the others.
      for (const node of nodes()) node.once('end', noteEnd);
      // Otherwise a cluster connects to a node with the first command for it, and only then notices that it is down.
      await Promise.all(nodes().map(node => node.ping()));
    },
    onEnd: listener => {
      connection.once('-node', noteEnd);
      void ended.then(() => listener(lastError));
    },
    keepOpen: () => {
      for (const node of nodes()) node.ping().catch(() => {});
    },
    end: () => connection.disconnect(),
  };
}

/** The error with which a node of a cluster responded, if that is why ioredis could use none. */
function rejectionOf({ lastNodeError }: Error & { lastNodeError?: Error }): Error | undefined {
  return lastNodeError?.name === 'ReplyError' ? lastNodeError : undefined;
}

/** The texts of ioredis for a command on a connection that has ended. */
const ENDED = /^(Stream isn't writeable|Connection is closed|Cluster isn't ready)/;

/** The texts of ioredis when it has tried all nodes of a cluster. */
const NO_NODE = /^(None of startup nodes is available|Failed to refresh slots cache)/;

/** Returns why Redis cannot be used, in words for an operator. */
export function reasonOf(error: Error): string {
  if (ENDED.test(error.message)) return 'The connection was closed';
  return NO_NODE.test(error.message) ? 'No node of the cluster can be reached' : messageOf(error);
}

/** The script by its number of keys. */
const ofSize = [undefined, 'decideOne', 'decideTwo', 'decideThree'] as const;

type ScriptMethods = { runDecisions: RunDecisions } & Record<
  NonNullable<(typeof ofSize)[number]>,
  (...keysAndCalls: string[]) => Promise<string[]>
>;

function hostsOf(nodes: readonly RedisServer[]): { host: string; port: number }[] {
  return nodes.map(({ host, port }) => ({ host, port }));
}

function clusterOptions({ username, password, tls }: RedisServer) {
  const { scripts, lazyConnect, enableAutoPipelining, enableOfflineQueue, enableReadyCheck, ...nodeOptions } =
    clientOptions;
  return {
    scripts,
    lazyConnect,
    enableAutoPipelining,
    enableOfflineQueue,
    enableReadyCheck,
    clusterRetryStrategy: () => null,
    redisOptions: { ...nodeOptions, username, password, tls },
  };
}

/** The options of a connection to a server, which sentinels may name. */
function singleOptions(target: Exclude<RedisTarget, { kind: 'cluster' }>, keyPrefix: string) {
  const common = {
    ...clientOptions,
    ...target.server,
    db: target.db,
    keyPrefix,
    // DecisionBatches already waits for the end of the turn.
    autoPipeliningIgnoredCommands: ['runDecisions'],
  } satisfies RedisOptions;
  if (target.kind === 'server') return common;
  const { sentinels, name } = target;
  const [{ username, password, tls }] = sentinels as [RedisServer];
  return {
    ...common,
    name,
    sentinels: hostsOf(sentinels),
    sentinelUsername: username,
    sentinelPassword: password,
    sentinelTLS: tls,
    enableTLSForSentinelMode: tls !== undefined,
    // RedisLink tries again.
    sentinelRetryStrategy: () => null,
  } satisfies RedisOptions;
}
