import { ConfigError } from './config-error.ts';
import { type Kind, listOf } from './settings.ts';

const REDIS_URL = 'a URL such as redis://127.0.0.1:6379 or rediss://user:password@host:6380/0';

const redisNodes = listOf<string>({
  values: REDIS_URL,
  parse: (text, name) => {
    const url = URL.parse(text);
    if (!url || !isRedis(url)) throw new ConfigError(`${name} must be ${REDIS_URL}`);
    if (isPercentEncoded(url)) return text;
    throw new ConfigError(
      `${name}: the user and the password must be percent-encoded: write \`%\` as \`%25\``,
    );
  },
});

/** The URL of a Redis server, or those of nodes of a cluster. Messages do not show them: they may contain passwords. */
export const redisUrls: Kind<readonly string[]> = {
  values: redisNodes.values,
  parse: (text, name) => {
    const urls = redisNodes.parse(text, name);
    if (urls.length < 2 || urls.every(url => Number(new URL(url).pathname.slice(1)) === 0)) return urls;
    throw new ConfigError(
      `${name} names several nodes of a cluster, which has only database 0: remove the database number`,
    );
  },
};

function isRedis({ protocol, hostname, pathname, search, hash }: URL): boolean {
  return (
    /^rediss?:$/.test(protocol) && hostname !== '' && /^(\/\d{0,5})?$/.test(pathname) && search + hash === ''
  );
}

/** Whether user and password can be decoded. */
function isPercentEncoded({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/**
 * The URL under which a proxy serves the service, with a slash at its end; `/` if the text is empty. It may have a path: without
 * the slash, URLs would not resolve below it.
 */
export const publicUrl: Kind<string> = {
  values: 'an http or https URL',
  parse: (text, name) => {
    if (text === '') return '/';
    const url = URL.parse(text);
    const isPlain = url && !/[?#]/.test(text) && url.username + url.password === '';
    if (isPlain && /^https?:$/.test(url.protocol)) return url.href.endsWith('/') ? url.href : `${url.href}/`;
    throw new ConfigError(
      `${name} must be the http or https URL at which clients reach the service, without user, password, query and ` +
        'fragment, such as https://shop.example',
    );
  },
};
