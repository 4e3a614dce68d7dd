import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { Server } from 'node:net';
import { describe, it } from 'node:test';
import { TrustedProxies } from '../kit/client-address.ts';
import { limitConnections } from './connection-limits.ts';

class Connection extends EventEmitter {
  isOpen = true;
  readonly remoteAddress: string;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  destroy(): void {
    this.isOpen = false;
    this.emit('close');
  }
}

function limited(perAddress: number) {
  const server = new Server();
  const excess: string[] = [];
  limitConnections(server, {
    total: 100,
    perAddress,
    trustedProxies: new TrustedProxies(['10.0.0.0/8']),
    onExcess: (address, limit) => void excess.push(`${address} ${limit}`),
  });
  const connect = (address: string) => {
    const connection = new Connection(address);
    server.emit('connection', connection);
    return connection;
  };
  return { server, excess, connect };
}

const isOpen = (connection: Connection) => connection.isOpen;

describe('connections of one address', () => {
  it('are limited, and do not count for other addresses', () => {
    const { connect, excess } = limited(2);
    const connections = Array.from({ length: 3 }, () => connect('192.0.2.1'));
    assert.deepEqual(connections.map(isOpen), [true, true, false]);
    assert.ok(connect('192.0.2.2').isOpen);
    assert.deepEqual(excess, ['192.0.2.1 address']);
  });

  it('each free one place when they close', () => {
    const { connect } = limited(2);
    const [first] = [connect('192.0.2.1'), connect('192.0.2.1')];
    for (let i = 0; i < 3; i++)
      assert.ok(!connect('192.0.2.1').isOpen, 'a rejected connection frees no place');
    first.destroy();
    assert.deepEqual([connect('192.0.2.1'), connect('192.0.2.1')].map(isOpen), [true, false]);
  });

  it('count by /64 in IPv6, and as IPv4 when an IPv6 address maps one', () => {
    const { connect } = limited(1);
    const addresses = ['2001:db8::1', '2001:db8::ffff:2', '2001:db8:0:1::1', '::ffff:192.0.2.1', '192.0.2.1'];
    assert.deepEqual(addresses.map(connect).map(isOpen), [true, false, true, true, false]);
  });

  it('of a trusted proxy are not limited', () => {
    const { connect, excess } = limited(1);
    for (let i = 0; i < 5; i++) assert.ok(connect('10.0.0.1').isOpen);
    assert.deepEqual(excess, []);
  });

  it('are reported when the server drops them because of the total limit', () => {
    const { server, excess } = limited(1);
    assert.equal(server.maxConnections, 100);
    server.emit('drop', { remoteAddress: '2001:db8::1' });
    assert.deepEqual(excess, ['2001:db8:0:0::/64 total']);
  });
});
