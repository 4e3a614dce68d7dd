import { BlockList, isIP } from 'node:net';

/** IPv4 that is not the public network: the IANA registry of special-purpose addresses, and multicast. */
const IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const;

/** The same for IPv6, with those ranges in which other IPv4 addresses hide: IPv4-compatible, Teredo, 6to4. */
const IPV6 = [
  ['::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const;

const forbidden = new BlockList();
for (const [address, prefix] of IPV4) {
  forbidden.addSubnet(address, prefix, 'ipv4');
  // What stands for it in IPv6: IPv4-mapped (RFC 4291 §2.5.5.2) and NAT64 (RFC 6052).
  forbidden.addSubnet(`::ffff:${address}`, 96 + prefix, 'ipv6');
  forbidden.addSubnet(`64:ff9b::${address}`, 96 + prefix, 'ipv6');
}
for (const [address, prefix] of IPV6) forbidden.addSubnet(address, prefix, 'ipv6');

/** Whether an address, or what is none, is not one of the public network. */
export function isPrivate(address: string): boolean {
  const version = isIP(address);
  // A zone, as in fe80::1%eth0, is of the machine itself.
  if (version === 0 || address.includes('%')) return true;
  return forbidden.check(address, version === 4 ? 'ipv4' : 'ipv6');
}
