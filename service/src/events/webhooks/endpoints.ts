import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../contract/errors.ts';
import { SECOND } from '../../kit/clock.ts';
import { isPrivate } from './addresses.ts';
import { MAX_URL_LENGTH } from './webhook.ts';

/** Resolves with all addresses of a name; rejects if it has none. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

/** How long a name may take to resolve when a webhook is created or changed, in milliseconds. */
const RESOLVE_TIMEOUT = 5 * SECOND;

/** A name resolves only to private addresses. The message does not show them, because the client must not learn them. */
export class PrivateAddress extends Error {}

/**
 * Checks that endpoints have public addresses and use HTTPS: when a webhook is created or changed, and again for each
 * connection, because a name can resolve to other addresses later.
 */
export class Endpoints {
  readonly #resolve: Resolve;
  /** Allows private addresses and plain HTTP, for development. */
  readonly #allowPrivate: boolean;

  constructor({ resolve, allowPrivate }: { resolve: Resolve; allowPrivate: boolean }) {
    this.#resolve = resolve;
    this.#allowPrivate = allowPrivate;
  }

  /** Throws `invalid_request` if the URL is not allowed or its host has no public address now. */
  async rejectForbidden(text: string): Promise<void> {
    const { hostname } = this.#parse(text);
    const host = withoutBrackets(hostname);
    if (isIP(host)) {
      if (!this.#isAllowed(host)) throw rejected(`must have a public address, but ${host} is not one`);
      return;
    }
    const addresses = await this.#addressesOf(host);
    if (addresses === undefined) throw rejected(`must have a host that can be resolved, but ${host} cannot`);
    if (!addresses.some(({ address }) => this.#isAllowed(address)))
      throw rejected(`must have a public address, but ${host} resolves to none`);
  }

  /** Throws PrivateAddress if the host is a private address instead of a name: connections do not look up addresses. */
  rejectAddress(hostname: string): void {
    const host = withoutBrackets(hostname);
    if (isIP(host) && !this.#isAllowed(host)) throw new PrivateAddress(`${host} is not a public address`);
  }

  /** The look-up function of connections. It returns only the addresses of a name that are allowed. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.#resolve(hostname).then(
      all => {
        const { family = 0, all: wantsAll } = options;
        const allowed = all.filter(({ address }) => this.#isAllowed(address));
        const found = allowed.filter(found => family === 0 || `IPv${found.family}` === `IPv${family}`);
        const [first] = found;
        if (!first) callback(new PrivateAddress(`${hostname} resolves to no public address`), '', 0);
        else if (wantsAll) callback(null, found);
        else callback(null, first.address, first.family);
      },
      error => callback(error, '', 0),
    );
  };

  #parse(text: string): URL {
    const url = URL.parse(text);
    if (!url) throw rejected('must be a URL, such as `https://example.com/webhook`');
    const schemes = this.#allowPrivate ? ['https:', 'http:'] : ['https:'];
    if (!schemes.includes(url.protocol)) {
      const known = schemes.map(scheme => `\`${scheme}//\``).join(' or ');
      throw rejected(`must start with ${known}, but starts with \`${url.protocol.slice(0, 20)}\``);
    }
    if (url.username !== '' || url.password !== '')
      throw rejected('must not contain a user name or password');
    if (url.hash !== '') throw rejected('must not have a fragment, because fragments are never sent');
    if (url.port === '0') throw rejected('must not have port 0');
    const { length } = url.href;
    if (length > MAX_URL_LENGTH)
      throw rejected(
        `must have at most ${MAX_URL_LENGTH} characters after percent-encoding, but has ${length}`,
      );
    return url;
  }

  async #addressesOf(host: string): Promise<LookupAddress[] | undefined> {
    const timer = new AbortController();
    const late = sleep(RESOLVE_TIMEOUT, undefined, { signal: timer.signal }).catch(() => undefined);
    try {
      return await Promise.race([this.#resolve(host), late]);
    } catch {
      return undefined;
    } finally {
      timer.abort();
    }
  }

  #isAllowed(address: string): boolean {
    return this.#allowPrivate || !isPrivate(address);
  }
}

function rejected(rule: string): ApiError {
  return new ApiError('invalid_request', `Field \`url\` ${rule}`);
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
