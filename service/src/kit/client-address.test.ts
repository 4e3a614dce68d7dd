import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { addressSubject, isAddressRange, networkOfSubject, TrustedProxies } from './client-address.ts';

describe('the address of a client', () => {
  const untrusting = new TrustedProxies([]);
  const proxies = new TrustedProxies(['127.0.0.1', '10.0.0.0/8', '2001:db8:aa::/48', '::1']);

  it('is that of the connection when no proxy is trusted', () => {
    for (const peer of ['127.0.0.1', '10.0.0.1', '::1', '203.0.113.9']) {
      assert.equal(untrusting.clientAddress(peer, undefined), peer);
      assert.equal(untrusting.clientAddress(peer, '198.51.100.1'), peer);
    }
  });

  it('is that of the connection without the header, or with the header of an untrusted peer', () => {
    assert.equal(proxies.clientAddress('10.0.0.1', undefined), '10.0.0.1');
    assert.equal(proxies.clientAddress('203.0.113.9', '198.51.100.1'), '203.0.113.9');
    assert.equal(proxies.clientAddress('203.0.113.9', '10.0.0.2, 127.0.0.1'), '203.0.113.9');
    assert.equal(proxies.clientAddress('', '198.51.100.1'), '');
  });

  it('of a proxy is recognised in every notation', () => {
    for (const peer of ['10.0.0.1', '::ffff:10.0.0.1', '::1', '2001:db8:aa::7']) {
      assert.ok(proxies.includes(peer), peer);
      assert.ok(!untrusting.includes(peer), peer);
    }
    for (const peer of ['203.0.113.9', '2001:db8:ab::7', '']) assert.ok(!proxies.includes(peer), peer);
  });

  const chains: [what: string, peer: string, forwardedFor: string, address: string][] = [
    ['a proxy', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['a chain of proxies', '127.0.0.1', '198.51.100.1, 10.0.0.2, 10.0.0.1', '198.51.100.1'],
    ['a chain without spaces', '127.0.0.1', '198.51.100.1,10.0.0.2,10.0.0.1', '198.51.100.1'],
    ['a chain with tabs', '127.0.0.1', '198.51.100.1\t,\t10.0.0.2', '198.51.100.1'],
    ['a forged entry at the front', '10.0.0.1', '192.0.2.66, 198.51.100.1', '198.51.100.1'],
    ['a forged proxy at the front', '10.0.0.1', '192.0.2.66, 10.0.0.2, 198.51.100.1', '198.51.100.1'],
    ['garbage at the front', '10.0.0.1', 'unknown, , "x", 198.51.100.1', '198.51.100.1'],
    ['a client among the proxies', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['an IPv6 client', '10.0.0.1', '2001:db8::7', '2001:db8::7'],
    ['an IPv6 proxy', '2001:db8:aa:1::1', '198.51.100.1', '198.51.100.1'],
    ['another network than the proxy’s', '2001:db8:ab::1', '198.51.100.1', '2001:db8:ab::1'],
    ['an IPv4 proxy on an IPv6 socket', '::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['an untrusted IPv4 peer on an IPv6 socket', '::ffff:203.0.113.9', '198.51.100.1', '::ffff:203.0.113.9'],
    ['an IPv4-mapped proxy in a chain', '::1', '198.51.100.1, ::ffff:10.0.0.2', '198.51.100.1'],
    ['a proxy with a zone', '::1%lo', '198.51.100.1', '198.51.100.1'],
    ['a port', '10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    ['brackets', '10.0.0.1', '[2001:db8::7]', '2001:db8::7'],
    ['brackets and a port', '10.0.0.1', '[2001:db8::7]:4711', '2001:db8::7'],
    ['ports of proxies', '10.0.0.1', '198.51.100.1:1, 10.0.0.2:2', '198.51.100.1'],
    ['a zone', '10.0.0.1', 'fe80::1%eth0', 'fe80::1'],
    ['nothing', '10.0.0.1', '', '10.0.0.1'],
    ['an empty last entry', '10.0.0.1', '198.51.100.1,', '10.0.0.1'],
    ['a word', '10.0.0.1', 'unknown', '10.0.0.1'],
    ['a word by a proxy in a chain', '127.0.0.1', '198.51.100.1, unknown, 10.0.0.1', '10.0.0.1'],
    ['a number out of range', '10.0.0.1', '198.51.100.256', '10.0.0.1'],
    ['too few numbers', '10.0.0.1', '198.51.100', '10.0.0.1'],
    ['a range', '10.0.0.1', '198.51.100.0/24', '10.0.0.1'],
    ['an open bracket', '10.0.0.1', '[2001:db8::7', '10.0.0.1'],
    ['a colon without a port', '10.0.0.1', '198.51.100.1:', '10.0.0.1'],
    ['a script', '10.0.0.1', '<script>', '10.0.0.1'],
  ];
  for (const [what, peer, forwardedFor, address] of chains) {
    it(`with ${what}, ${JSON.stringify(forwardedFor)} from ${peer}, is ${address}`, () => {
      assert.equal(proxies.clientAddress(peer, forwardedFor), address);
    });
  }

  it('does not depend on entries before that of the outermost proxy', () => {
    const entry = fc.oneof(fc.ipV4(), fc.ipV6(), fc.string(), fc.constantFrom('127.0.0.1', '10.0.0.2', ''));
    fc.assert(
      fc.property(fc.array(entry), forged => {
        const forwardedFor = [...forged, '198.51.100.1', '10.0.0.2'].join(', ');
        assert.equal(proxies.clientAddress('10.0.0.1', forwardedFor), '198.51.100.1');
      }),
    );
  });

  it('is always an address, whatever a trusted proxy forwards', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789abcdef.:,[]%/ ') }), forwardedFor => {
        assert.ok(isAddressRange(proxies.clientAddress('10.0.0.1', forwardedFor)));
      }),
    );
  });

  it('is forwarded by exactly the peers with the prefix of a trusted range', () => {
    const ipv4 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
    const textOf = (bits: number) => [24, 16, 8, 0].map(shift => (bits >>> shift) & 255).join('.');
    fc.assert(
      fc.property(
        ipv4,
        fc.integer({ min: 0, max: 32 }),
        fc.integer({ min: 0, max: 31 }),
        (range, prefix, flipped) => {
          const proxies = new TrustedProxies([`${textOf(range)}/${prefix}`]);
          // The address of the range with one bit changed, counted from the highest.
          const peer = textOf((range ^ (1 << (31 - flipped))) >>> 0);
          const expected = flipped < prefix ? peer : '198.51.100.1';
          assert.equal(proxies.clientAddress(peer, '198.51.100.1'), expected);
          assert.equal(proxies.clientAddress(textOf(range), '198.51.100.1'), '198.51.100.1');
        },
      ),
    );
  });
});

describe('the subject under which an address is counted', () => {
  const subjects: [address: string, subject: string][] = [
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::FFFF:203.0.113.9', '203.0.113.9'],
    ['::ffff:cb00:7109', '203.0.113.9'],
    ['0:0:0:0:0:ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:0:1::7', '2001:db8:0:1::/64'],
    ['2001:0DB8:0000:0001:ffff:ffff:ffff:ffff', '2001:db8:0:1::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['fe80::1%eth1', 'fe80:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['1::', '1:0:0:0::/64'],
    // Only ::ffff:0:0/96 maps IPv4 addresses.
    ['::203.0.113.9', '0:0:0:0::/64'],
    ['64:ff9b::203.0.113.9', '64:ff9b:0:0::/64'],
    ['', ''],
  ];
  for (const [address, subject] of subjects) {
    it(`of "${address}" is "${subject}"`, () => assert.equal(addressSubject(address), subject));
  }

  it('is in a /48 network if it is of IPv6', () => {
    for (const [address, network] of [
      ['2001:db8:1:2::7', '2001:db8:1::/48'],
      ['2001:db8:1:ffff:1:2:3:4', '2001:db8:1::/48'],
      ['2001:db8::1', '2001:db8:0::/48'],
      ['::1', '0:0:0::/48'],
      ['203.0.113.9', undefined],
      ['::ffff:203.0.113.9', undefined],
      ['', undefined],
    ] as const)
      assert.equal(networkOfSubject(addressSubject(address)), network);
  });

  const group = fc.integer({ min: 0, max: 0xffff });
  const network = fc.tuple(fc.integer({ min: 1, max: 0xffff }), group, group, group);
  const host = fc.tuple(group, group, group, group);

  /** One of the notations of an address: short or long, lower or upper case, with or without `::`. */
  function written(groups: readonly number[], [isLong, isUpper, isShortened]: readonly boolean[]): string {
    const texts = groups.map(group => group.toString(16).padStart(isLong ? 4 : 1, '0'));
    const first = groups.indexOf(0);
    if (isShortened && first >= 0) {
      let end = first;
      while (groups[end] === 0) end++;
      texts.splice(first, end - first, first === 0 || end === 8 ? ':' : '');
      if (first === 0 && end === 8) return '::';
    }
    const text = texts.join(':');
    return isUpper ? text.toUpperCase() : text;
  }

  const style = fc.tuple(fc.boolean(), fc.boolean(), fc.boolean());

  it('is the same for any two addresses of one /64, in any notation', () => {
    fc.assert(
      fc.property(network, host, host, style, style, (network, one, other, style, otherStyle) => {
        const subject = addressSubject(written([...network, ...one], style));
        assert.equal(addressSubject(written([...network, ...other], otherStyle)), subject);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is different for any two addresses of different /64s', () => {
    fc.assert(
      fc.property(network, fc.integer({ min: 0, max: 63 }), host, style, (network, bit, host, style) => {
        const other = network.map((group, i) => (i === bit >> 4 ? group ^ (1 << (bit & 15)) : group));
        const subjects = [network, other].map(groups => addressSubject(written([...groups, ...host], style)));
        assert.notEqual(subjects[0], subjects[1]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('of an IPv4 address is the same through IPv4 and IPv6 sockets', () => {
    fc.assert(fc.property(fc.ipV4(), ip => assert.equal(addressSubject(`::ffff:${ip}`), addressSubject(ip))));
  });
});

describe('a range of addresses', () => {
  const ranges: [text: string, isRange: boolean][] = [
    ['127.0.0.1', true],
    ['10.0.0.0/8', true],
    ['10.1.2.3/8', true],
    ['0.0.0.0/0', true],
    ['10.0.0.1/32', true],
    ['::1', true],
    ['fd00::/8', true],
    ['::/0', true],
    ['2001:db8::1/128', true],
    ['::ffff:10.0.0.0/104', true],
    ['10.0.0.0/33', false],
    ['::/129', false],
    ['10.0.0.0/', false],
    ['10.0.0.0/-1', false],
    ['10.0.0.0/8.5', false],
    ['10.0.0.0/1e1', false],
    ['10.0.0.0/ 8', false],
    ['10.0.0.0/8/8', false],
    ['10.0.0.0/255.0.0.0', false],
    ['10.0.0/8', false],
    ['10.0.0.256', false],
    ['010.0.0.1', false],
    ['10.0.0.1:80', false],
    ['[::1]', false],
    ['fe80::1%eth0', false],
    ['fe80::%eth0/64', false],
    ['localhost', false],
    ['*', false],
    ['/8', false],
    ['', false],
    [' 10.0.0.1', false],
  ];
  for (const [text, isRange] of ranges) {
    it(`"${text}" is ${isRange ? 'valid' : 'invalid'}`, () => {
      assert.equal(isAddressRange(text), isRange);
      if (isRange) assert.doesNotThrow(() => new TrustedProxies([text]));
    });
  }
});
