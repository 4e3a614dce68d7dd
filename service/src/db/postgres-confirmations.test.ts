import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { MINUTE } from '../kit/clock.ts';
import { DatabaseUnavailable } from './database.ts';
import { Confirmations } from './postgres-confirmations.ts';
import { NotConfirmed } from './postgres-errors.ts';

/** Confirmations whose probe ends when the test says so, and what they have reported. */
function confirmations() {
  const probe = Promise.withResolvers<void>();
  const statuses: string[] = [];
  const confirmations = new Confirmations({
    probe: () => probe.promise,
    stillCommits: async () => false,
    onStatus: status => void statuses.push(status),
  });
  return { confirmations, probe, statuses };
}

const notConfirmed = () => new DatabaseUnavailable(new NotConfirmed(), 'unconfirmed');

describe('commits that are not confirmed', () => {
  it('are reported once, until the probe is confirmed', async () => {
    const { confirmations: those, probe, statuses } = confirmations();
    those.note(notConfirmed());
    those.note(notConfirmed());
    assert.throws(() => those.rejectUnconfirmed(), DatabaseUnavailable);
    probe.resolve();
    await nextTurn();
    those.rejectUnconfirmed();
    assert.deepEqual(statuses, ['unconfirmed', 'confirmed']);
  });

  it('are not reported as confirmed when the store is closed, nor as unconfirmed from then on', async () => {
    const { confirmations: those, probe, statuses } = confirmations();
    those.note(notConfirmed());
    those.close();
    probe.reject(new DatabaseUnavailable(new Error('The database is being closed')));
    await nextTurn();
    assert.deepEqual(statuses, ['unconfirmed']);
    const other = confirmations();
    other.confirmations.close();
    other.confirmations.note(notConfirmed());
    assert.deepEqual(other.statuses, []);
  });

  it('are probed again when the server has ended the commit of the previous probe, whose connection is closed', async () => {
    const commit = Promise.withResolvers<void>();
    const statuses: string[] = [];
    const released: boolean[] = [];
    const client = { release: (isBroken: boolean) => released.push(isBroken) } as unknown as PoolClient;
    let probes = 0;
    const those = new Confirmations({
      probe: async () => {
        if (++probes > 1) return;
        const failure = notConfirmed();
        those.discard(client, commit.promise, failure);
        throw failure;
      },
      stillCommits: async () => true,
      onStatus: status => void statuses.push(status),
    });
    those.note(notConfirmed());
    await nextTurn();
    assert.deepEqual([probes, released, statuses], [1, [], ['unconfirmed']]);
    commit.resolve();
    await nextTurn();
    assert.deepEqual([probes, released, statuses], [2, [true], ['unconfirmed', 'confirmed']]);
  });

  it('are probed again after a probe for which the service was too busy, which confirms nothing', async () => {
    const steps: string[] = [];
    const confirmed = Promise.withResolvers<void>();
    const those = new Confirmations({
      probe: async () => {
        if (steps.push('probed') === 2) throw new DatabaseUnavailable(undefined, 'busy');
      },
      stillCommits: async () => false,
      onStatus: status => {
        steps.push(status);
        if (status === 'confirmed') confirmed.resolve();
      },
    });
    those.note(notConfirmed());
    // The pause between two probes does not keep the process alive.
    const keepsAlive = setInterval(() => {}, MINUTE);
    await confirmed.promise;
    clearInterval(keepsAlive);
    assert.deepEqual(steps, ['unconfirmed', 'probed', 'probed', 'confirmed']);
  });

  it('leave no connection to a server that hangs: pg would wait for the end of the commit', async () => {
    const steps: string[] = [];
    const released = Promise.withResolvers<void>();
    const client = {
      connection: { stream: { destroy: () => steps.push('destroyed') } },
      release: released.resolve,
    } as unknown as PoolClient;
    const those = new Confirmations({
      probe: async () => {},
      stillCommits: async () => {
        steps.push('asked');
        return false;
      },
      onStatus: () => {},
    });
    those.discard(client, new Promise(() => {}), notConfirmed());
    // The wait for the server does not keep the process alive.
    const keepsAlive = setInterval(() => {}, MINUTE);
    await released.promise;
    clearInterval(keepsAlive);
    assert.deepEqual(steps, ['asked', 'destroyed']);
  });
});
