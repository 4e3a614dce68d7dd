import assert from 'node:assert/strict';
import { BlockList, isIPv4 } from 'node:net';
import { describe, it } from 'node:test';
import ipaddr from 'ipaddr.js';
import { isPrivate } from './addresses.ts';

/** The ranges of the IANA IPv4 and IPv6 Special-Purpose Address Registries, multicast, and the host of Azure. */
const SPECIAL = `
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24
  203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
  ::/128 ::1/128 ::/96 ::ffff:0:0:0/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 2001:1::1/128
  2001:1::2/128 2001:1::3/128 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28
  2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8`
  .trim()
  .split(/\s+/);

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6');

/** Adds ranges in an implementation other than that of the service. */
function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network, bits] = range.split('/') as [string, string];
    list.addSubnet(network, Number(bits), familyOf(network));
  }
  return list;
}

const special = listOf(SPECIAL);
const globalUnicast = listOf(['2000::/3']);

function isPublic(address: string): boolean {
  const family = familyOf(address);
  return !special.check(address, family) && (family === 'ipv4' || globalUnicast.check(address, family));
}

/** The first and the last address of a range, and the addresses before and after it. */
function edgesOf(range: string): string[] {
  const [network, bits] = range.split('/') as [string, string];
  const length = isIPv4(network) ? 4 : 16;
  const first = BigInt(`0x${Buffer.from(ipaddr.parse(network).toByteArray()).toString('hex')}`);
  const size = 1n << (8n * BigInt(length) - BigInt(bits));
  return [first, first + size - 1n, first - 1n, first + size]
    .filter(number => number >= 0n && number < 1n << (8n * BigInt(length)))
    .map(number => Buffer.from(number.toString(16).padStart(2 * length, '0'), 'hex'))
    .map(bytes => ipaddr.fromByteArray([...bytes]).toString());
}

describe('an address', () => {
  for (const range of SPECIAL) {
    it(`in ${range} is private, and its public neighbours are not`, () => {
      const [first, last, ...neighbours] = edgesOf(range);
      for (const address of [first!, last!]) assert.equal(isPrivate(address), true, address);
      for (const address of neighbours) assert.equal(isPrivate(address), !isPublic(address), address);
    });
  }

  it('of IPv6 that embeds an IPv4 address is private if the IPv4 address is', () => {
    const edges = SPECIAL.filter(range => !range.includes(':')).flatMap(edgesOf);
    assert.ok(edges.filter(isPublic).length > 20);
    for (const prefix of ['::ffff:', '64:ff9b::'])
      for (const address of edges) assert.equal(isPrivate(prefix + address), !isPublic(address), address);
  });

  it('at which a provider of machines serves metadata is private, also in 6to4 and within IPv6', () => {
    const metadata = ['169.254.169.254', '169.254.170.2', '100.100.100.200', '192.0.0.192', '168.63.129.16'];
    for (const address of metadata) {
      const [a, b, c, d] = address.split('.').map(Number) as [number, number, number, number];
      const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
      for (const form of [address, `::ffff:${address}`, `::ffff:${hex}`, `64:ff9b::${hex}`, `2002:${hex}::1`])
        assert.equal(isPrivate(form), true, form);
    }
    for (const address of ['fd00:ec2::254', 'fd20:ce::254', 'fe80::a9fe:a9fe'])
      assert.equal(isPrivate(address), true, address);
  });

  it('of IPv6 outside the range for global unicast is private', () => {
    for (const address of ['1fff:ffff::', '4000::', '8000::', '64:ff9a::1', '64:ff9c::1', '::1:0:0:0'])
      assert.equal(isPrivate(address), true, address);
    for (const address of ['2000::', '3fff:ffff:ffff::', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'])
      assert.equal(isPrivate(address), false, address);
  });

  it('with a zone is private, and so is a text that is not an address', () => {
    for (const address of ['2606:2800::1%eth0', 'fe80::1%eth0', '', 'example.com', '1.2.3', '0x8.8.8.8'])
      assert.equal(isPrivate(address), true, address);
  });
});
