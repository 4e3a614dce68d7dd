import { BlockList, isIP, isIPv4 } from 'node:net';

/** Addresses and CIDR ranges such as `10.0.0.0/8`, in the form that `isAddressRange` accepts. */
export class AddressRanges {
  readonly #ranges = new BlockList();

  constructor(ranges: readonly string[]) {
    for (const range of ranges) {
      const [address = '', prefix] = range.split('/');
      const family = familyOf(address);
      if (prefix === undefined) this.#ranges.addAddress(address, family);
      else this.#ranges.addSubnet(address, Number(prefix), family);
    }
  }

  /** Whether an address is one of these. An IPv4-mapped IPv6 address is its IPv4 address. */
  includes(text: string): boolean {
    const address = plain(text);
    return isIP(address) !== 0 && this.#ranges.check(address, familyOf(address));
  }
}

/** The proxies whose `X-Forwarded-For` is trusted. By default there are none, because any client can send this header. */
export class TrustedProxies {
  readonly #ranges: AddressRanges;
  readonly #none: boolean;

  constructor(ranges: readonly string[]) {
    this.#none = ranges.length === 0;
    this.#ranges = new AddressRanges(ranges);
  }

  /**
   * The address of the client: that of the connection, or, if that is a trusted proxy, the address that it forwards for, and so
   * on. Each proxy appends the address that called it, so the list is read from its end.
   */
  clientAddress(peer: string, forwardedFor: string | undefined): string {
    if (this.#none || forwardedFor === undefined) return peer;
    let address = plain(peer);
    for (const entry of forwardedFor.split(',').reverse()) {
      if (!this.includes(address)) break;
      const forwarded = plain(entry.trim());
      // The entry is not an address: the proxy that appended it is the last known address.
      if (isIP(forwarded) === 0) break;
      address = forwarded;
    }
    return address;
  }

  /** Whether an address is that of a trusted proxy. */
  includes(peer: string): boolean {
    return !this.#none && this.#ranges.includes(peer);
  }
}

/** Whether a text is an address, or a range of addresses with the length of its prefix: `10.0.0.0/8`, `fd00::/8`. */
export function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || more.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}

/**
 * The subject under which an address is counted. An IPv6 address counts as its /64, which providers assign to one customer; an
 * IPv4-mapped address (RFC 4291 §2.5.5.2) counts as its IPv4 address.
 */
export function addressSubject(address: string): string {
  const text = plain(address);
  if (isIP(text) !== 6) return text;
  const groups = groupsOf(text);
  const prefix = groups.slice(0, 6).join(':');
  return prefix === '0:0:0:0:0:ffff' ? ipv4Of(groups) : `${groups.slice(0, 4).join(':')}::/64`;
}

/**
 * The IPv6 /48 that contains the subject of an address, such as `2001:db8:1::/48`; `undefined` for IPv4. Providers assign a /48 to one
 * site, which can use 65,536 subjects.
 */
export function networkOfSubject(subject: string): string | undefined {
  return subject.endsWith('::/64') ? `${subject.split(':', 3).join(':')}::/48` : undefined;
}

/** An address as it is shown: an IPv4 address without the prefix that it has on a dual-stack socket. */
export function shownAddress(address: string): string | null {
  if (address === '') return null;
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
}

/** Removes zone, brackets and port from an address. */
function plain(text: string): string {
  const address = text.replace(/^\[([^\]]*)\](:\d+)?$/, '$1').replace(/%.*$/, '');
  return /^([\d.]+):\d+$/.exec(address)?.[1] ?? address;
}

/** The eight groups of an IPv6 address, in lower-case hexadecimal without leading zeros. */
function groupsOf(address: string): string[] {
  // The parser of URLs writes each address in this form, with `::` in place of zeros.
  const { hostname } = new URL(`http://[${address}]`);
  const [before = [], after = []] = hostname
    .slice(1, -1)
    .split('::')
    .map(part => part.split(':').filter(group => group !== ''));
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}

/** The IPv4 address in the last two groups. */
function ipv4Of(groups: readonly string[]): string {
  const bytes = groups.slice(6).flatMap(group => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
  return bytes.join('.');
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6';
}

/** Whether a host is this machine: `localhost`, 127.0.0.0/8 or ::1, also in the form of an IPv4-mapped address. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1').replace(/^::ffff:/, '');
  return address === 'localhost' || address === '::1' || (isIPv4(address) && address.startsWith('127.'));
}
