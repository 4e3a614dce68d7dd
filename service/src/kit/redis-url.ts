import { ConfigError } from './config-error.ts';
import { type Kind, listOf } from './settings.ts';
import { urlsOf } from './urls.ts';

const REDIS_URL = 'a URL such as redis://127.0.0.1:6379 or rediss://user:password@host:6380/0';

const SENTINEL_URL = 'redis+sentinel://user:password@host:port,host:port/name';

/** The parameters of a URL with sentinels: their own credentials. */
const SENTINEL_PARAMETERS = ['sentinel_user', 'sentinel_password'];

/** Host, port and credentials of one server of Redis. */
export interface RedisServer {
  host: string;
  port: number;
  username: string | undefined;
  password: string | undefined;
  tls: object | undefined;
}

/** How to reach the counters of all replicas. */
export type RedisTarget =
  | { kind: 'server'; server: RedisServer; db: number }
  /** Nodes of a cluster; the first has the credentials. */
  | { kind: 'cluster'; nodes: readonly RedisServer[] }
  /** The servers called `name`, whose primary the sentinels know. `server` has no host. */
  | {
      kind: 'sentinel';
      sentinels: readonly RedisServer[];
      name: string;
      server: Omit<RedisServer, 'host' | 'port'>;
      db: number;
    };

const isSentinelUrl = (text: string) => /^rediss?\+sentinel:/i.test(text);

const redisNodes = listOf<string>({
  values: REDIS_URL,
  parse: (text, name) => {
    const url = URL.parse(text);
    if (!url || !isRedis(url)) throw new ConfigError(`${name} must be ${REDIS_URL}`);
    rejectUndecodable([url.username, url.password], name);
    return text;
  },
});

/** The URL of a Redis server, those of nodes of a cluster, or that of sentinels. Messages do not show them: they may contain passwords. */
export const redisUrls: Kind<readonly string[]> = {
  values: `${redisNodes.values}, or ${SENTINEL_URL}`,
  parse: (text, name) => {
    if (isSentinelUrl(text.trim())) {
      checkSentinels(text.trim(), name);
      return Object.freeze([text.trim()]);
    }
    const urls = redisNodes.parse(text, name);
    if (urls.length < 2 || urls.every(url => Number(new URL(url).pathname.slice(1)) === 0)) return urls;
    throw new ConfigError(
      `${name} names several nodes of a cluster, which has only database 0: remove the database number`,
    );
  },
};

/** Returns what valid URLs name. */
export function redisTarget(urls: readonly string[]): RedisTarget {
  const [first = ''] = urls;
  if (isSentinelUrl(first)) return sentinelsAt(first);
  const nodes = urls.map(url => new URL(url));
  if (nodes.length > 1) return { kind: 'cluster', nodes: nodes.map(url => serverAt(url)) };
  return { kind: 'server', server: serverAt(nodes[0]!), db: Number(nodes[0]!.pathname.slice(1) || 0) };
}

function isRedis({ protocol, hostname, pathname, search, hash }: URL): boolean {
  return (
    /^rediss?:$/.test(protocol) && hostname !== '' && /^(\/\d{0,5})?$/.test(pathname) && search + hash === ''
  );
}

function checkSentinels(text: string, name: string): void {
  const urls = urlsOf(text);
  const isValid = (url: URL | null) =>
    url?.hostname && url.hash === '' && /^\/[^/]+(\/\d{0,5})?$/.test(url.pathname);
  if (!urls.every(isValid))
    throw new ConfigError(`${name} must be ${SENTINEL_URL}, with the name that the sentinels monitor`);
  const { username, password, pathname, searchParams } = urls[0]!;
  if ([...searchParams.keys()].some(parameter => !SENTINEL_PARAMETERS.includes(parameter))) {
    throw new ConfigError(
      `${name} has a parameter that the service does not support. Supported are ${SENTINEL_PARAMETERS.join(' and ')}`,
    );
  }
  rejectUndecodable([username, password, pathname], name);
}

function sentinelsAt(text: string): RedisTarget {
  const urls = urlsOf(text) as URL[];
  const [{ pathname, searchParams }] = urls as [URL];
  const [, name = '', db = ''] = pathname.split('/');
  const { host: _, port: __, ...server } = serverAt(urls[0]!);
  const sentinels = urls.map(url => ({
    ...serverAt(url, 26_379),
    username: searchParams.get('sentinel_user') ?? undefined,
    password: searchParams.get('sentinel_password') ?? undefined,
  }));
  return { kind: 'sentinel', sentinels, name: decodeURIComponent(name), server, db: Number(db) };
}

function serverAt({ protocol, hostname, port, username, password }: URL, defaultPort = 6_379): RedisServer {
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || defaultPort),
    username: username ? decodeURIComponent(username) : undefined,
    password: password ? decodeURIComponent(password) : undefined,
    tls: protocol.startsWith('rediss') ? {} : undefined,
  };
}

function rejectUndecodable(parts: readonly string[], name: string): void {
  try {
    decodeURIComponent(parts.join(''));
  } catch {
    throw new ConfigError(
      `${name}: the user and the password must be percent-encoded: write \`%\` as \`%25\``,
    );
  }
}
