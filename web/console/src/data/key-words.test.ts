import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ApiKey } from '@petstore/client';
import { expiresSoon, isUnused, usedPercent } from './key-words.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const before = (days: number) => new Date(NOW - days * 86_400_000).toISOString();

it('a key is unused if neither it nor a request of it is younger than 90 days, and it is not revoked', () => {
  const key = { createdAt: before(90), lastUsedAt: null, revokedAt: null } as unknown as ApiKey;
  assert.equal(isUnused(key, NOW), true);
  assert.equal(isUnused({ ...key, createdAt: before(89) }, NOW), false);
  assert.equal(isUnused({ ...key, lastUsedAt: before(89) }, NOW), false);
  assert.equal(isUnused({ ...key, createdAt: before(300), lastUsedAt: before(91) }, NOW), true);
  assert.equal(isUnused({ ...key, revokedAt: before(1) }, NOW), false);
});

it('a key is marked from 80 percent of its day on, by its plan or its quotas', () => {
  const free = { plan: 'free', quotas: null } as ApiKey;
  assert.deepEqual(
    [799, 800, 949, 1_000].map(admitted => usedPercent(free, admitted)),
    [undefined, 80, 94, 100],
  );
  const negotiated = { plan: 'enterprise', quotas: { perMinute: 10, perDay: 20 } } as ApiKey;
  assert.deepEqual([usedPercent(negotiated, 15), usedPercent(negotiated, 17)], [undefined, 85]);
});

it('a key is marked in the 14 days before its end', () => {
  const ends = (days: number) => expiresSoon({ expiresAt: before(-days) } as ApiKey, NOW);
  assert.deepEqual([ends(15), ends(14), ends(1)], [false, true, true]);
  assert.equal(expiresSoon({ expiresAt: null } as ApiKey, NOW), false);
});
