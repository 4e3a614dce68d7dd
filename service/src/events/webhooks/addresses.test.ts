import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isPrivate } from './addresses.ts';

/**
 * The ranges of the IANA IPv4 and IPv6 Special-Purpose Address Registries, and multicast: the first and the last address of
 * each range, and the addresses before and after it if they are public.
 */
const SPECIAL: [
  range: string,
  first: string,
  last: string,
  before?: string | undefined,
  after?: string | undefined,
][] = [
  ['0.0.0.0/8', '0.0.0.0', '0.255.255.255', undefined, '1.0.0.0'],
  ['10.0.0.0/8', '10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0/10', '100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0/8', '127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  [
    ...(['168.63.129.16/32, of the host of Azure', '168.63.129.16', '168.63.129.16'] as const),
    ...(['168.63.129.15', '168.63.129.17'] as const),
  ],
  ['169.254.0.0/16', '169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0/12', '172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0/24', '192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0/24', '192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.31.196.0/24', '192.31.196.0', '192.31.196.255', '192.31.195.255', '192.31.197.0'],
  ['192.52.193.0/24', '192.52.193.0', '192.52.193.255', '192.52.192.255', '192.52.194.0'],
  ['192.88.99.0/24', '192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0/16', '192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['192.175.48.0/24', '192.175.48.0', '192.175.48.255', '192.175.47.255', '192.175.49.0'],
  ['198.18.0.0/15', '198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0/24', '198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0/24', '203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0/4', '224.0.0.0', '239.255.255.255', '223.255.255.255'],
  ['240.0.0.0/4', '240.0.0.0', '255.255.255.255'],
  ['::/128', '::', '::'],
  ['::1/128', '::1', '::1'],
  ['::/96, IPv4-compatible', '::', '::ffff:ffff'],
  ['::ffff:0:0:0/96, IPv4-translated', '::ffff:0:0:0', '::ffff:0:ffff:ffff'],
  ['64:ff9b:1::/48', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['100::/64', '100::', '100::ffff:ffff:ffff:ffff'],
  ['100:0:0:1::/64', '100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'],
  ['2001::/23', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', undefined, '2001:200::'],
  ['2001::/32', '2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:1::1/128', '2001:1::1', '2001:1::3'],
  ['2001:2::/48', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff'],
  ['2001:3::/32', '2001:3::', '2001:3:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:4:112::/48', '2001:4:112::', '2001:4:112:ffff:ffff:ffff:ffff:ffff'],
  ['2001:10::/28', '2001:10::', '2001:1f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:20::/28', '2001:20::', '2001:2f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:30::/28', '2001:30::', '2001:3f:ffff:ffff:ffff:ffff:ffff:ffff'],
  [
    ...(['2001:db8::/32', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'] as const),
    ...(['2001:db7:ffff::', '2001:db9::'] as const),
  ],
  ['2002::/16', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:ffff::', '2003::'],
  [
    ...(['2620:4f:8000::/48', '2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'] as const),
    ...(['2620:4f:7fff::', '2620:4f:8001::'] as const),
  ],
  ['3fff::/20', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3ffe::', '3fff:1000::'],
  ['5f00::/16', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fc00::/7', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fe80::/10', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fec0::/10', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ff00::/8', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
];

describe('an address', () => {
  for (const [range, first, last, before, after] of SPECIAL) {
    it(`in ${range} is private, and its public neighbours are not`, () => {
      for (const address of [first, last]) assert.equal(isPrivate(address), true, address);
      for (const address of [before, after].filter(neighbour => neighbour !== undefined))
        assert.equal(isPrivate(address), false, address);
    });
  }

  it('of IPv6 that embeds an IPv4 address is private if the IPv4 address is', () => {
    const pairs = SPECIAL.filter(([, first]) => !first.includes(':'));
    assert.ok(pairs.length > 10);
    for (const prefix of ['::ffff:', '64:ff9b::']) {
      for (const [, first, last, before, after] of pairs) {
        for (const address of [first, last]) assert.equal(isPrivate(prefix + address), true, address);
        for (const address of [before, after].filter(neighbour => neighbour !== undefined))
          assert.equal(isPrivate(prefix + address), false, address);
      }
    }
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
