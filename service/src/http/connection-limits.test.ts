import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { Server } from 'node:net';
import { describe, it } from 'node:test';
import { TrustedProxies } from '../kit/client-address.ts';
import { ConnectionLimiter } from './connection-limits.ts';

class Connection extends EventEmitter {
  isOpen = true;
  ends = 0;
  readonly remoteAddress: string;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  end(): void {
    this.ends++;
  }

  destroySoon(): void {
    this.destroy();
  }

  destroy(): void {
    this.isOpen = false;
    this.emit('close');
  }
}

type Outcome = 'admitted' | 'rejected' | 'closed';

function limited(perAddress: number, total = 100) {
  const server = new Server();
  const excess: string[] = [];
  const limiter = new ConnectionLimiter({
    total,
    perAddress,
    trustedProxies: new TrustedProxies(['10.0.0.0/8']),
    onExcess: (address, limit) => void excess.push(`${address} ${limit}`),
  });
  limiter.watch(server);
  const connect = (address: string) => {
    const connection = new Connection(address);
    server.emit('connection', connection);
    return connection;
  };
  const outcomeOf = (connection: Connection): Outcome => {
    const socket = connection as never;
    assert.equal(limiter.rejectionOn(socket) !== undefined, limiter.isExcess(socket));
    if (!connection.isOpen) return 'closed';
    return limiter.isExcess(socket) ? 'rejected' : 'admitted';
  };
  const messageOn = (connection: Connection) => limiter.rejectionOn(connection as never)?.message;
  return { server, excess, connect, outcomeOf, messageOn };
}

describe('connections of one address', () => {
  it('each free one place when they close', () => {
    const { connect, outcomeOf } = limited(2);
    const [first] = [connect('192.0.2.1'), connect('192.0.2.1')];
    const rejected = Array.from({ length: 3 }, () => connect('192.0.2.1'));
    assert.deepEqual(rejected.map(outcomeOf), ['rejected', 'rejected', 'rejected']);
    for (const connection of rejected) connection.destroy();
    assert.equal(outcomeOf(rejected[0]!), 'closed');
    const another = connect('192.0.2.1');
    assert.equal(outcomeOf(another), 'rejected', 'a rejected connection frees no place');
    another.destroy();
    first.destroy();
    const last = [connect('192.0.2.1'), connect('192.0.2.1')];
    assert.deepEqual(last.map(outcomeOf), ['admitted', 'rejected']);
    last[1]!.destroy();
  });

  it('count by /64 in IPv6, and as IPv4 when an IPv6 address maps one', () => {
    const { connect, outcomeOf } = limited(1);
    const addresses = ['2001:db8::1', '2001:db8::ffff:2', '2001:db8:0:1::1', '::ffff:192.0.2.1', '192.0.2.1'];
    const connections = addresses.map(connect);
    assert.deepEqual(connections.map(outcomeOf), [
      'admitted',
      'rejected',
      'admitted',
      'admitted',
      'rejected',
    ]);
    for (const connection of connections) connection.destroy();
  });
});

describe('the connections of all addresses', () => {
  it('over a limit are a quarter of the allowed ones; further ones are closed at once', () => {
    const { server, connect, excess, outcomeOf, messageOn } = limited(1, 8);
    assert.equal(server.maxConnections, 10);
    const connections = Array.from({ length: 5 }, () => connect('192.0.2.1'));
    assert.deepEqual(connections.map(outcomeOf), ['admitted', 'rejected', 'rejected', 'closed', 'closed']);
    assert.match(messageOn(connections[1]!)!, /^Your address has 1 open .*PETSTORE_CONNECTIONS_PER_ADDRESS/);
    assert.deepEqual(excess, Array(4).fill('192.0.2.1 address'));
    for (const connection of connections) connection.destroy();
  });

  it('each free one place when they close, allowed ones and those over a limit, however many there were', () => {
    const { connect, outcomeOf } = limited(1, 2);
    for (let round = 0; round < 3; round++) {
      const connections = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'].map(connect);
      assert.deepEqual(connections.map(outcomeOf), ['admitted', 'admitted', 'rejected', 'closed']);
      for (const connection of connections) if (connection.isOpen) connection.destroy();
    }
  });

  it('leave nothing in memory when they close, however many addresses there were', t => {
    const { mock } = t.mock.method(Map.prototype, 'set');
    const { connect } = limited(1);
    const addresses = Array.from({ length: 50 }, (_, i) => `192.0.2.${i}`);
    for (const address of addresses) for (const each of [connect(address), connect(address)]) each.destroy();
    const open = [...addresses, '192.0.2.1'].map(connect);
    const tables = new Set(mock.calls.map(call => call.this as Map<unknown, unknown>));
    assert.deepEqual([...tables].map(({ size }) => size).toSorted(), [1, 50]);
    for (const connection of open) connection.destroy();
    assert.deepEqual(
      [...tables].map(({ size }) => size),
      [0, 0],
    );
  });

  it('are reported when the server drops them', () => {
    const { server, excess } = limited(1);
    server.emit('drop', { remoteAddress: '2001:db8::1' });
    assert.deepEqual(excess, ['2001:db8:0:0::/64 total']);
  });
});

it('a connection over a limit is closed after five seconds, or one second after its response', t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { connect } = limited(1);
  const [, silent, served] = Array.from({ length: 3 }, () => connect('192.0.2.1'));
  t.mock.timers.tick(4_500);
  served!.destroySoon();
  assert.deepEqual([served!.ends, served!.isOpen], [1, true], 'only the side of the service ends');
  t.mock.timers.tick(499);
  assert.ok(silent!.isOpen);
  t.mock.timers.tick(1);
  assert.deepEqual([silent!.isOpen, served!.isOpen], [false, true]);
  t.mock.timers.tick(499);
  assert.ok(served!.isOpen);
  t.mock.timers.tick(1);
  assert.ok(!served!.isOpen);
});
