import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inTime } from '../../../test/support/until.ts';
import type { Notifier, Queries } from '../../db/database.ts';
import { SECOND } from '../../kit/clock.ts';
import type { ApiKeyRow } from './api-key-queries.ts';
import { KeyRing } from './key-ring.ts';
import { hashOf, newSecret } from './secret.ts';

const banRules = {
  forgiveness: 2_000,
  strikes: 10,
  strikesWithin: 60_000,
  durations: [60_000],
  decay: 86_400_000,
};
const NOW = Date.parse('2026-11-21T12:00:00.000Z');

/** A store with one key, which counts its reads. */
class OneKeyStore implements Queries, Notifier {
  readonly engine = 'sqlite';
  readonly secret = newSecret();
  readonly row: ApiKeyRow = {
    id: 7,
    name: 'Web shop',
    kind: 'secret',
    plan: 'free',
    scopes: 'pets:read orders:write',
    per_minute: null,
    per_day: null,
    created_at: NOW,
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    bans_lifted_at: null,
    leak_reported_at: null,
    last_used_from: null,
    last_used_client: null,
    allowed_networks: null,
    limits_resets: 0,
  };
  reads = 0;
  /** Notifies as after a transaction that changed a key. */
  notifyOfChange = () => {};

  async get<Row>(_sql: string, [hash]: readonly unknown[] = []): Promise<Row | undefined> {
    this.reads++;
    const isFound = hashOf(this.secret).equals(hash as Uint8Array);
    return isFound ? ({ ...this.row } as Row) : undefined;
  }

  onNotice(_topic: string, listener: () => void): void {
    this.notifyOfChange = listener;
  }

  all(): Promise<never> {
    throw new Error('The key ring must read one key at a time');
  }
}

function aRing() {
  const store = new OneKeyStore();
  return { store, ring: new KeyRing(store, banRules) };
}

describe('the key ring', () => {
  it('returns the ID of a key, its scopes and its limits', async () => {
    const store = new OneKeyStore();
    assert.deepEqual(await new KeyRing(store, banRules).find(store.secret, NOW), {
      keyId: 7,
      kind: 'secret',
      scopes: new Set(['pets:read', 'orders:write']),
      networks: null,
      origins: null,
      terms: { limits: { perMinute: 60, perDay: 1_000 }, resets: 0, bansLiftedAt: 0, banRules },
    });
  });

  it('rejects a mistyped key without a read of the database', async () => {
    const { store, ring } = aRing();
    assert.equal(await ring.find(`${store.secret}x`, NOW), undefined);
    assert.equal(store.reads, 0);
  });

  it('reads an unknown key at each request, because it keeps nothing of it', async () => {
    const { store, ring } = aRing();
    const unknown = newSecret();
    for (let i = 0; i < 2; i++) assert.equal(await ring.find(unknown, NOW), undefined);
    assert.equal(store.reads, 2);
  });

  it('reads a key at most once a second', async () => {
    const { store, ring } = aRing();
    for (const later of [0, 1, 500, 999]) assert.ok(await ring.find(store.secret, NOW + later));
    assert.equal(store.reads, 1);
    for (const later of [1_000, 1_999]) assert.ok(await ring.find(store.secret, NOW + later));
    assert.equal(store.reads, 2);
  });

  it('reads a key once for concurrent requests', async () => {
    const { store, ring } = aRing();
    const found = await Promise.all([ring.find(store.secret, NOW), ring.find(store.secret, NOW)]);
    assert.deepEqual([store.reads, found[0]?.keyId, found[1]?.keyId], [1, 7, 7]);
  });

  it('does not share a read that failed, or that began a second ago', async () => {
    const { store, ring } = aRing();
    const get = store.get.bind(store);
    store.get = () => Promise.reject(new Error('unavailable'));
    await assert.rejects(async () => ring.find(store.secret, NOW), /unavailable/);
    store.get = get;
    assert.ok(await ring.find(store.secret, NOW));
    store.get = () => new Promise(() => {});
    void ring.find(store.secret, NOW + SECOND);
    store.get = get;
    assert.ok(await inTime('the key', Promise.resolve(ring.find(store.secret, NOW + 2 * SECOND)), 20));
  });

  it('returns the last caller of a secret while the store is unavailable, until it is read that the key is gone', async () => {
    const { store, ring } = aRing();
    assert.equal(ring.lastKnown(store.secret), undefined);
    await ring.find(store.secret, NOW);
    assert.equal(ring.lastKnown(store.secret)?.keyId, 7);
    store.row.revoked_at = NOW;
    await ring.find(store.secret, NOW + SECOND);
    assert.equal(ring.lastKnown(store.secret), undefined);
  });

  it('neither caches nor shares a read that began before a key was changed', async () => {
    const { store, ring } = aRing();
    const before = ring.find(store.secret, NOW);
    store.row.revoked_at = NOW;
    store.notifyOfChange();
    const after = ring.find(store.secret, NOW);
    assert.ok(await before);
    assert.equal(await after, undefined);
    assert.equal(await ring.find(store.secret, NOW), undefined);
  });

  it('reads a key again when the clock is set back', async () => {
    const { store, ring } = aRing();
    await ring.find(store.secret, NOW);
    await ring.find(store.secret, NOW - 1);
    assert.equal(store.reads, 2);
  });

  it('reads a key from the store when asked to, and not with a read that began before', async () => {
    const { store, ring } = aRing();
    assert.ok(await ring.find(store.secret, NOW));
    const before = ring.findStored(store.secret, NOW);
    store.row.revoked_at = NOW;
    assert.equal(await ring.findStored(store.secret, NOW), undefined);
    assert.ok(await before);
    assert.equal(await ring.find(store.secret, NOW), undefined);
  });

  it('rejects a key from the exact millisecond at which it expires, read or cached', async () => {
    const store = new OneKeyStore();
    store.row.expires_at = NOW + 500;
    const ring = new KeyRing(store, banRules);
    assert.ok(await ring.find(store.secret, NOW));
    assert.ok(await ring.find(store.secret, NOW + 499));
    assert.equal(await ring.find(store.secret, NOW + 500), undefined);
    assert.equal(await new KeyRing(store, banRules).find(store.secret, NOW + 500), undefined);
    assert.ok(await new KeyRing(store, banRules).find(store.secret, NOW + 499));
  });
});
