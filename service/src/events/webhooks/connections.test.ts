import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Connections, hostOf } from './connections.ts';

describe('connections', () => {
  it('are limited in total, for all hosts and keys together', () => {
    const connections = new Connections({ total: 5, perHost: 5 });
    assert.equal(connections.take({ host: 'a', keyId: 1 }, 2), 2);
    assert.equal(connections.take({ host: 'b', keyId: 2 }, 2), 2);
    assert.equal(connections.take({ host: 'c', keyId: 3 }, 2), 1);
    assert.equal(connections.take({ host: 'd', keyId: 4 }, 2), 0);
    connections.free({ host: 'b', keyId: 2 }, 2);
    assert.equal(connections.take({ host: 'd', keyId: 4 }, 9), 2);
  });

  it('are limited for each host, for the webhooks of all keys together', () => {
    const connections = new Connections({ total: 100, perHost: 3 });
    assert.equal(connections.take({ host: 'a', keyId: 1 }, 2), 2);
    assert.equal(connections.take({ host: 'a', keyId: 2 }, 2), 1);
    assert.equal(connections.take({ host: 'a', keyId: 3 }, 2), 0);
    assert.equal(connections.take({ host: 'b', keyId: 3 }, 2), 2);
  });

  it('are limited for the webhooks of one key, to half of all', () => {
    const connections = new Connections({ total: 5, perHost: 5 });
    assert.equal(connections.take({ host: 'a', keyId: 1 }, 2), 2);
    assert.equal(connections.take({ host: 'b', keyId: 1 }, 2), 1);
    assert.equal(connections.take({ host: 'c', keyId: 2 }, 5), 2);
    const single = new Connections({ total: 1, perHost: 1 });
    assert.equal(single.take({ host: 'a', keyId: 1 }, 1), 1);
  });

  it('are not taken for a webhook that already has its maximum', () => {
    const connections = new Connections({ total: 5, perHost: 5 });
    assert.equal(connections.take({ host: 'a', keyId: 1 }, -6), 0);
    assert.equal(connections.take({ host: 'a', keyId: 1 }, 3), 3);
  });
});

describe('the host of a URL', () => {
  it('is the same with another port, in capitals and with a trailing dot', () => {
    for (const url of [
      'https://hooks.example/a',
      'http://hooks.example:81/',
      'https://HOOKS.example.:8443/b?c',
    ])
      assert.equal(hostOf(url), 'hooks.example', url);
    assert.equal(hostOf('https://[::1]:8443/'), '[::1]');
  });
});
