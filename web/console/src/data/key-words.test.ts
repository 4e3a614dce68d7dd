import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ApiKey } from '@petstore/client';
import { isUnused } from './key-words.ts';

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
