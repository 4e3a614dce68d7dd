import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changedSettings } from '../../src/access/api-keys/api-key.ts';
import { selectApiKeyToChange } from '../../src/access/api-keys/api-key-queries.ts';
import { changeWithin } from '../../src/access/api-keys/api-keys.ts';
import { warnOfExpiry } from '../../src/access/key-warnings/expiry-warnings.ts';
import { DAY, HOUR } from '../../src/kit/clock.ts';
import { formatDateTime } from '../../src/kit/dates.ts';
import { eventsAfter, settledCursor } from '../support/event-log.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { onPostgres } from '../support/test-store.ts';
import { valuesOf } from '../support/values.ts';

/** A key that expires in so many days. */
async function keyFor(days: number, shop: TestApp) {
  const expiresAt = formatDateTime(shop.clock.now() + days * DAY);
  return { ...(await shop.clientWith({ scopes: ['pets:read', 'events:read'], expiresAt })), expiresAt };
}

/** The warnings of all keys in the log after a sweep, such as `keys/2 14`. */
async function warnings(shop: TestApp): Promise<string[]> {
  await shop.app.sweeper.run();
  await settledCursor(shop);
  const events = await eventsAfter(shop.api, 0, '&type=key.expiring');
  return events.map(({ subject, data }) => `${subject} ${(data as { days: number }).days}`);
}

describe('a key that expires', () => {
  it('is warned 14, 3 and 1 days before, once each, and not after its end', async t => {
    const shop = await startTestApp(t);
    const { keyId, expiresAt } = await keyFor(20, shop);
    const found: string[][] = [];
    // Just before and at each of them, and after the end.
    for (const days of [6, 6.5, 17, 18, 19, 19.5, 20, 30]) {
      shop.clock.set(formatDateTime(Date.parse(expiresAt) + (days - 20) * DAY - (days === 6 ? 1 : 0)));
      found.push(await warnings(shop));
    }
    const [first, second, third] = [14, 3, 1].map(days => `keys/${keyId} ${days}`);
    assert.deepEqual(found, [
      ...[[], [first], [first, second], [first, second]],
      ...[
        [first, second, third],
        [first, second, third],
        [first, second, third],
        [first, second, third],
      ],
    ]);
    const { body } = await shop.api.get(`/events?type=key.expiring&limit=1`);
    assert.deepEqual(body[0].data, { keyId, name: 'Test client', days: 14, expiresAt });
    assert.deepEqual((await shop.api.get(`/keys/${keyId}/usage`)).body.warnings.expiry, [
      ...[14, 3, 1].map(days => ({
        days,
        passedAt: formatDateTime(Date.parse(expiresAt) - days * DAY),
      })),
    ]);
  });

  it('reads in its account the warnings that were given about its present end', async t => {
    const shop = await startTestApp(t);
    const { key, keyId } = await keyFor(34, shop);
    const inAccount = async () => {
      await warnings(shop);
      const { body } = await shop.api.as(key).get('/account');
      return body.warnings.expiry;
    };
    shop.clock.advance(20 * DAY);
    assert.deepEqual(await inAccount(), [{ days: 14, passedAt: formatDateTime(shop.clock.now()) }]);
    await shop.api.patch(`/keys/${keyId}`, { expiresAt: formatDateTime(shop.clock.now() + 2 * DAY) });
    assert.deepEqual(await inAccount(), []);
    shop.clock.advance(DAY);
    assert.deepEqual(await inAccount(), [{ days: 1, passedAt: formatDateTime(shop.clock.now()) }]);
  });

  it('gets only the nearest warning when no process ran, and none when it has expired, is revoked or expires never', async t => {
    const shop = await startTestApp(t);
    const [missed, revoked, kept] = [await keyFor(20, shop), await keyFor(20, shop), await keyFor(20, shop)];
    await keyFor(17, shop);
    await shop.api.delete(`/keys/${revoked.keyId}`);
    await shop.api.patch(`/keys/${kept.keyId}`, { expiresAt: null });
    shop.clock.advance(18 * DAY);
    assert.deepEqual(await warnings(shop), [`keys/${missed.keyId} 3`]);
    const { body } = await shop.api.get(`/keys/${missed.keyId}/usage`);
    assert.deepEqual(valuesOf(body.warnings.expiry, 'days'), [3]);
    const again = await shop.restart();
    shop.clock.advance(DAY);
    assert.deepEqual((await warnings(again)).slice(1), [`keys/${missed.keyId} 1`]);
  });

  it('is warned again when it expires at another time, and not by other changes', async t => {
    const shop = await startTestApp(t);
    const { keyId } = await keyFor(3, shop);
    const change = (settings: object) => shop.api.patch(`/keys/${keyId}`, settings);
    shop.clock.advance(2 * DAY + HOUR);
    assert.deepEqual(await warnings(shop), [`keys/${keyId} 1`]);
    await change({ name: 'Renamed' });
    assert.equal((await warnings(shop)).length, 1);
    await change({ expiresAt: formatDateTime(shop.clock.now() + 4 * DAY) });
    assert.equal((await warnings(shop)).length, 1, 'of 14 days it knows');
    shop.clock.advance(DAY);
    await change({ name: 'A change of something else does not hide a warning that is due' });
    assert.deepEqual((await warnings(shop)).slice(1), [`keys/${keyId} 3`]);
  });

  it('is warned in the same round as many others', async t => {
    const shop = await startTestApp(t);
    for (let i = 0; i < 201; i++) await keyFor(15, shop);
    shop.clock.advance(2 * DAY);
    assert.equal((await warnings(shop)).length, 201);
  });

  it('is warned after as many revoked keys as one transaction takes', async t => {
    const shop = await startTestApp(t);
    for (let i = 0; i < 100; i++) await shop.api.delete(`/keys/${(await keyFor(15, shop)).keyId}`);
    const { keyId } = await keyFor(16, shop);
    shop.clock.advance(2 * DAY);
    const areMore = () => warnOfExpiry(shop.app.db, shop.clock.now());
    assert.deepEqual([await areMore(), await areMore()], [true, false]);
    assert.deepEqual(await warnings(shop), [`keys/${keyId} 14`]);
  });

  it('is warned once if another replica changes it meanwhile', { skip: !onPostgres }, async t => {
    const shop = await startTestApp(t);
    const other = await shop.replica();
    const { keyId } = await keyFor(15, shop);
    shop.clock.advance(2 * DAY);
    const access = { keyLimits: shop.app.keyLimits, now: shop.clock.now() };
    await shop.app.db.write(async tx => {
      const row = (await selectApiKeyToChange(tx, keyId))!;
      await warnOfExpiry(other.app.db, access.now);
      await changeWithin(tx, access, row, key => changedSettings(key, { name: 'Renamed' }));
    });
    assert.equal((await shop.api.get(`/keys/${keyId}`)).body.name, 'Renamed');
    assert.deepEqual(await warnings(shop), [`keys/${keyId} 14`]);
  });

  it('is warned once by all replicas together', { skip: !onPostgres }, async t => {
    const shop = await startTestApp(t);
    const others = [await shop.replica(), await shop.replica(), await shop.replica()];
    for (let i = 0; i < 250; i++) await keyFor(15, shop);
    shop.clock.advance(2 * DAY);
    await Promise.all([shop, ...others].map(({ app }) => app.sweeper.run()));
    const found = await warnings(shop);
    assert.deepEqual([found.length, new Set(found).size], [250, 250]);
  });
});
