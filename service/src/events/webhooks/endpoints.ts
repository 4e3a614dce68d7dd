import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../contract/errors.ts';
import { SECOND } from '../../kit/clock.ts';
import { isPrivate } from './addresses.ts';
import { MAX_URL_LENGTH } from './webhook.ts';

/** Answers with all addresses of a name; rejects when it has none. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

/** How long a name may take to resolve when a webhook is registered, in milliseconds. */
const RESOLVING = 5 * SECOND;

/** A name that leads only to where no webhook may go. It does not say where that is: that is not for the caller. */
export class PrivateAddress extends Error {}

/**
 * Where webhooks may go: to public addresses, by HTTPS. It is asked when one is registered, and with each connection,
 * because a name can lead elsewhere by then.
 */
export class Endpoints {
  readonly #resolve: Resolve;
  /** For development: private addresses and plain HTTP, too. */
  readonly #allowPrivate: boolean;

  constructor({ resolve, allowPrivate }: { resolve: Resolve; allowPrivate: boolean }) {
    this.#resolve = resolve;
    this.#allowPrivate = allowPrivate;
  }

  /** Throws `invalid_request` unless a webhook may go there, as far as is known now. */
  async rejectForbidden(text: string): Promise<void> {
    const { hostname } = this.#parse(text);
    const host = withoutBrackets(hostname);
    if (isIP(host)) {
      if (!this.#isAllowed(host)) throw rejected(`must lead to a public address, but ${host} is not one`);
      return;
    }
    const addresses = await this.#addressesOf(host);
    if (addresses === undefined) throw rejected(`names a host that cannot be resolved, ${host}`);
    if (!addresses.some(({ address }) => this.#isAllowed(address)))
      throw rejected(`must lead to a public address, but ${host} leads to none`);
  }

  /** Throws PrivateAddress for an address in the place of a name, which a connection does not look up. */
  rejectAddress(hostname: string): void {
    const host = withoutBrackets(hostname);
    if (isIP(host) && !this.#isAllowed(host)) throw new PrivateAddress(`${host} is not a public address`);
  }

  /** What connections look names up with: of the addresses of a name only those that webhooks may go to. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.#resolve(hostname).then(
      all => {
        const { family = 0, all: wantsAll } = options;
        const allowed = all.filter(({ address }) => this.#isAllowed(address));
        const found = allowed.filter(found => family === 0 || `IPv${found.family}` === `IPv${family}`);
        const [first] = found;
        if (!first) callback(new PrivateAddress(`${hostname} leads to no public address`), '', 0);
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
      throw rejected(`must begin with ${known}, but began with \`${url.protocol.slice(0, 20)}\``);
    }
    if (url.username !== '' || url.password !== '') throw rejected('must not hold a user name or password');
    if (url.hash !== '') throw rejected('must not have a fragment, which is never sent');
    if (url.port === '0') throw rejected('must not name port 0');
    const { length } = url.href;
    if (length > MAX_URL_LENGTH)
      throw rejected(
        `must have at most ${MAX_URL_LENGTH} characters once it is percent-encoded, but has ${length}`,
      );
    return url;
  }

  async #addressesOf(host: string): Promise<LookupAddress[] | undefined> {
    const patience = new AbortController();
    const late = sleep(RESOLVING, undefined, { signal: patience.signal }).catch(() => undefined);
    try {
      return await Promise.race([this.#resolve(host), late]);
    } catch {
      return undefined;
    } finally {
      patience.abort();
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
