import { MINUTE, SECOND } from './clock.ts';
import { ConfigError } from './config-error.ts';
import type { Kind } from './settings.ts';
import { urlsOf } from './urls.ts';

const POSTGRES_URL = 'postgres://user:password@host:port/database';

const SESSION_KIND = 'target_session_attrs';

const CONNECT_TIMEOUT = 'connect_timeout';

/** How long it may take to connect unless the URL states it, in milliseconds. */
const DEFAULT_CONNECT_TIMEOUT = 2 * SECOND;

/** The longest time to connect that a URL may allow, in milliseconds. */
const MAX_CONNECT_TIMEOUT = MINUTE;

/** The parameters of libpq's URLs that the driver or the service applies. Some of them are the driver's own. */
const PARAMETERS = [
  'application_name',
  CONNECT_TIMEOUT,
  'password',
  'ssl',
  'sslcert',
  'sslkey',
  'sslmode',
  'sslnegotiation',
  'sslrootcert',
  'uselibpqcompat',
  'user',
];

/** The URL of a PostgreSQL database, perhaps on several servers. Messages do not show it: it may contain a password. */
export const postgresUrl: Kind<string> = {
  values: `${POSTGRES_URL}, with several \`host:port\` separated by commas and \`?${SESSION_KIND}=read-write\` for a primary with standbys`,
  parse: (text, name) => {
    const urls = urlsOf(text);
    if (!urls.every(isDatabase)) throw new ConfigError(`${name} must be ${POSTGRES_URL}`);
    const [{ searchParams }] = urls as [URL];
    rejectUnknown(searchParams, name);
    const kinds = searchParams.getAll(SESSION_KIND);
    if (kinds.some(kind => kind !== 'read-write'))
      throw new ConfigError(
        `${name}: ${SESSION_KIND} must be read-write, because the service needs the primary`,
      );
    if (!searchParams.getAll(CONNECT_TIMEOUT).every(isConnectTimeout)) {
      throw new ConfigError(
        `${name}: ${CONNECT_TIMEOUT} must be a whole number of seconds from 1 to ${MAX_CONNECT_TIMEOUT / SECOND}`,
      );
    }
    if (urls.length > 1 && kinds.length === 0) {
      throw new ConfigError(
        `${name} names several hosts: add ?${SESSION_KIND}=read-write, and the service uses the one that is the primary`,
      );
    }
    return urls.length === 1 ? urls[0]!.href : text;
  },
};

interface PostgresServers {
  /** The URL of each server, for the driver. */
  urls: string[];
  /** Whether the server must accept writes. */
  mustWrite: boolean;
}

/** Splits a valid URL into those of its servers. */
export function postgresServers(text: string): PostgresServers {
  const urls = urlsOf(text) as URL[];
  const mustWrite = urls[0]!.searchParams.has(SESSION_KIND);
  for (const url of urls) url.searchParams.delete(SESSION_KIND);
  return { urls: urls.map(url => url.href), mustWrite };
}

/** Returns how long it may take to connect to the database with a valid URL, in milliseconds. */
export function connectTimeoutOf(url: string): number {
  const seconds = new URL(url).searchParams.get(CONNECT_TIMEOUT);
  return seconds === null ? DEFAULT_CONNECT_TIMEOUT : Number(seconds) * SECOND;
}

function isConnectTimeout(text: string): boolean {
  return /^\d{1,9}$/.test(text) && Number(text) >= 1 && Number(text) * SECOND <= MAX_CONNECT_TIMEOUT;
}

function isDatabase(url: URL | null): boolean {
  return (
    url !== null && /^postgres(ql)?:$/.test(url.protocol) && url.hostname !== '' && url.pathname.length > 1
  );
}

function rejectUnknown(parameters: URLSearchParams, name: string): void {
  const names = [...parameters.keys()];
  const unknown = names.find(parameter => parameter !== SESSION_KIND && !PARAMETERS.includes(parameter));
  if (unknown === undefined) return;
  // The rest of a password with an unescaped "&" would be the name of a parameter.
  const shown = names.some(parameter => /password/i.test(parameter))
    ? 'a parameter'
    : `the parameter "${unknown}"`;
  throw new ConfigError(
    `${name} has ${shown} that the service does not support. Supported are ${[...PARAMETERS, SESSION_KIND].join(', ')}`,
  );
}
