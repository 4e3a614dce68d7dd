import assert from 'node:assert/strict';
import { it } from 'node:test';
import { KeyLimits } from '../../src/access/rate-limits/key-limits.ts';
import { type LimitState, newState } from '../../src/counters/decide.ts';
import { MemoryCounters } from '../../src/counters/memory.ts';
import { MINUTE } from '../../src/kit/clock.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const REPLICAS = 8;
const KEYS = 20;
const ROUNDS = 5;

/** The limits of a replica with these counts. */
function limitsOver(counters: MemoryCounters, { app: { db, config } }: TestApp): KeyLimits {
  return new KeyLimits({ db, counters, banRules: config.banRules, onBan: () => {} });
}

it('replicas that store the same keys at the same time lose no count and no ban', async t => {
  const shop = await startTestApp(t);
  const keyIds: number[] = [];
  for (let i = 0; i < KEYS; i++) keyIds.push((await shop.clientWith({})).keyId);

  for (let round = 1; round <= ROUNDS; round++) {
    // Every replica saw each key; one replica has the largest count, another the latest ban.
    const views = Array.from({ length: REPLICAS }, (_, replica) => {
      const counters = new MemoryCounters();
      for (const [place, keyId] of keyIds.entries()) {
        const rank = (replica + place) % REPLICAS;
        const view: LimitState = {
          ...newState(NOON),
          seenAt: NOON,
          minuteUsed: 100 * round + rank,
          dayUsed: 100 * round + rank,
          dayRejected: REPLICAS - 1 - rank,
          bannedAt: NOON,
          bannedUntil: NOON + round * MINUTE + REPLICAS - 1 - rank,
          bans: 1,
        };
        counters.keys.adopt(keyId, view);
      }
      return limitsOver(counters, shop);
    });
    await Promise.all(views.map(view => view.flush()));

    const stored = limitsOver(new MemoryCounters(), shop);
    await stored.load(NOON);
    for (const keyId of keyIds) {
      const { minuteUsed, dayUsed, dayRejected, bannedUntil } = stored.seenStateOf(keyId)!;
      assert.deepEqual(
        [minuteUsed, dayUsed, dayRejected, bannedUntil],
        [
          100 * round + REPLICAS - 1,
          100 * round + REPLICAS - 1,
          REPLICAS - 1,
          NOON + round * MINUTE + REPLICAS - 1,
        ],
      );
    }
  }
});

it('who made the last use of a key is stored also after its count, and an earlier use that is stored late changes neither of them', async t => {
  const shop = await startTestApp(t);
  const { keyId } = await shop.clientWith({});
  const storeUse = async (at: number, address?: string) => {
    const counters = new MemoryCounters();
    counters.keys.adopt(keyId, { ...newState(at), seenAt: at });
    const limits = limitsOver(counters, shop);
    if (address !== undefined) limits.uses.add(keyId, at, address, undefined);
    await limits.flush();
  };
  await storeUse(NOON + MINUTE);
  await storeUse(NOON + MINUTE, '192.0.2.1');
  await storeUse(NOON, '192.0.2.2');
  const { lastUsedAt, lastUsedFrom } = (await shop.api.get(`/keys/${keyId}`)).body;
  assert.deepEqual([lastUsedAt, lastUsedFrom], ['2026-11-21T12:01:00.000Z', '192.0.2.1']);
});
