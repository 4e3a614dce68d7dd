import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The part of IPv6 that is allocated for global unicast (IANA registry of the IPv6 address space). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** The ranges that embed IPv4 in their last 32 bits: mapped addresses (RFC 4291 §2.5.5.2) and NAT64 (RFC 6052). */
const EMBEDDING_IPV4 = ['::ffff:0:0/96', '64:ff9b::/96'].map(range => ipaddr.IPv6.parseCIDR(range));

/**
 * The address at which Azure's virtual machines reach services of their host, with secrets of the machine. It is outside the
 * special ranges, unlike the addresses of other providers (169.254.169.254, 100.100.100.200, 192.0.0.192, fd00:ec2::254,
 * fd20:ce::254).
 */
const HOST_OF_AZURE = ipaddr.IPv4.parse('168.63.129.16');

/**
 * Whether a text is not an address of the public network. The special ranges of the IANA registries, which the library
 * contains, are not public, and neither are IPv6 outside the range for global unicast and an address of a provider's host.
 */
export function isPrivate(address: string): boolean {
  // A zone, as in fe80::1%eth0, names an interface of this machine.
  if (isIP(address) === 0 || address.includes('%')) return true;
  return !isPublic(ipaddr.parse(address));
}

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address instanceof ipaddr.IPv4)
    return address.range() === 'unicast' && !address.match(HOST_OF_AZURE, 32);
  const embedded = EMBEDDING_IPV4.some(range => address.match(range));
  if (embedded) return isPublic(new ipaddr.IPv4(address.toByteArray().slice(-4)));
  return address.match(GLOBAL_UNICAST) && address.range() === 'unicast';
}
