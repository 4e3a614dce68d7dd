import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../contract/errors.ts';
import { SECOND } from '../../kit/clock.ts';
import { isPrivate } from './addresses.ts';
import { MAX_URL_LENGTH } from './webhook.ts';

/** Resolves with all addresses of a name; rejects if it has none. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

/** How long a name may take to resolve when a webhook is created or gets another URL, and how long each rejection of a name takes. */
const RESOLVE_TIMEOUT = 3 * SECOND;

/**
 * A host has no address that may be used. The message is the same for unknown names and for names with private addresses:
 * otherwise a client could find out which names exist in the network of the service.
 */
export class NoPublicAddress extends Error {}

interface EndpointsOptions {
  resolve: Resolve;
  /** Allows private addresses and plain HTTP, for development. */
  allowPrivate: boolean;
  /** The time after which `rejectForbidden` rejects a name without a public address, in milliseconds. */
  resolveTimeout?: number | undefined;
}

/**
 * Checks that endpoints have public addresses and use HTTPS: when a webhook is created or gets another URL, and again for each
 * connection, because a name can resolve to other addresses later.
 */
export class Endpoints {
  readonly #resolve: Resolve;
  readonly #allowPrivate: boolean;
  readonly #resolveTimeout: number;

  constructor({ resolve, allowPrivate, resolveTimeout = RESOLVE_TIMEOUT }: EndpointsOptions) {
    this.#resolve = resolve;
    this.#allowPrivate = allowPrivate;
    this.#resolveTimeout = resolveTimeout;
  }

  /**
   * Throws `invalid_request` if the URL is not allowed or its host has no public address now. Message and time of the rejection
   * are the same for all names. The name in the `current` URL of a webhook is not looked up again: other settings can be changed while
   * it has no address.
   */
  async rejectForbidden(text: string, current?: string): Promise<void> {
    const { hostname, href } = this.#parse(text);
    const host = withoutBrackets(hostname);
    if (isIP(host)) {
      if (!this.#isAllowed(host)) throw rejected(`must have a public address, but ${host} is not one`);
      return;
    }
    if (href === current) return;
    const timer = new AbortController();
    const late = sleep(this.#resolveTimeout, [], { signal: timer.signal }).catch(() => []);
    try {
      const addresses = await Promise.race([this.#allowedAddressesOf(host), late]);
      if (addresses.length > 0) return;
      // The time of a rejection would differ between names that exist in the network of the service and others.
      if (!this.#allowPrivate) await late;
    } finally {
      timer.abort();
    }
    throw rejected(`must have a host with a public address, but none was found for ${host}`);
  }

  /** Throws NoPublicAddress if the host is a private address instead of a name: connections do not look up addresses. */
  rejectAddress(hostname: string): void {
    const host = withoutBrackets(hostname);
    if (isIP(host) && !this.#isAllowed(host)) throw new NoPublicAddress(`${host} is not a public address`);
  }

  /** The look-up function of connections. It returns only the addresses of a name that are allowed. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    // A look-up that fails finds no address, so the promise is never rejected.
    void this.#allowedAddressesOf(hostname).then(allowed => {
      const { family = 0, all: wantsAll } = options;
      const found = allowed.filter(found => family === 0 || `IPv${found.family}` === `IPv${family}`);
      const [first] = found;
      if (!first) callback(new NoPublicAddress(`No public address was found for ${hostname}`), '', 0);
      else if (wantsAll) callback(null, found);
      else callback(null, first.address, first.family);
    });
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

  /** Resolves with the addresses of a name that may be used: none if the name does not exist. */
  async #allowedAddressesOf(host: string): Promise<LookupAddress[]> {
    const all = await this.#resolve(host).catch(() => []);
    return all.filter(({ address }) => this.#isAllowed(address));
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
