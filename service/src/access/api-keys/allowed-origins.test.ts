import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DatabaseUnavailable } from '../../db/database.ts';
import { SECOND } from '../../kit/clock.ts';
import { AllowedOrigins } from './allowed-origins.ts';

const SHOP = 'https://shop.example';
const NOW = Date.parse('2026-11-21T12:00:00.000Z');

/** A store of allowed origins that counts its reads. */
class OriginStore {
  readonly allowed = new Set([SHOP]);
  readonly errors: unknown[] = [];
  reads = 0;
  failure: Error | undefined;
  /** Notifies as after a transaction that changed a key. */
  notifyOfChange = () => {};

  onNotice(_topic: string, listener: () => void): void {
    this.notifyOfChange = listener;
  }

  open(capacity = 100): AllowedOrigins {
    return new AllowedOrigins(this, {
      read: async origin => {
        this.reads++;
        const isAllowed = this.allowed.has(origin);
        if (this.failure) throw this.failure;
        return isAllowed;
      },
      onError: error => this.errors.push(error),
      capacity,
    });
  }
}

describe('the allowed origins', () => {
  it('are read at most once a second, those that are not allowed as well', async () => {
    const store = new OriginStore();
    const origins = store.open();
    for (const later of [0, 1, 999]) {
      assert.equal(await origins.has(SHOP, NOW + later), true);
      assert.equal(await origins.has('https://other.example', NOW + later), false);
    }
    assert.equal(store.reads, 2);
    await origins.has(SHOP, NOW + SECOND);
    assert.equal(store.reads, 3);
  });

  it('are known without waiting while the last read is fresh', async () => {
    const origins = new OriginStore().open();
    await origins.has(SHOP, NOW);
    assert.equal(origins.has(SHOP, NOW), true);
  });

  it('are read once for concurrent requests', async () => {
    const store = new OriginStore();
    const origins = store.open();
    const found = await Promise.all(Array.from({ length: 50 }, () => origins.has(SHOP, NOW)));
    assert.deepEqual([store.reads, new Set(found)], [1, new Set([true])]);
  });

  it('are read again when a read takes a second or longer', async () => {
    const reads = [new Promise<boolean>(() => {}), Promise.resolve(true)];
    const origins = new AllowedOrigins(new OriginStore(), { read: () => reads.shift()!, onError: () => {} });
    for (const later of [0, 999]) void origins.has(SHOP, NOW + later);
    assert.equal(reads.length, 1);
    const second = origins.has(SHOP, NOW + SECOND);
    assert.equal(reads.length, 0);
    assert.equal(await second, true);
  });

  it('are read again at once after this process changed a key, and within a second after another one did', async () => {
    const store = new OriginStore();
    const [here, elsewhere] = [store.open(), store.open()];
    const notifyElsewhere = store.notifyOfChange;
    await Promise.all([here.has(SHOP, NOW), elsewhere.has(SHOP, NOW)]);
    store.allowed.delete(SHOP);
    notifyElsewhere();
    assert.equal(await elsewhere.has(SHOP, NOW), false);
    assert.equal(await here.has(SHOP, NOW + SECOND), false);
    store.allowed.add(SHOP);
    assert.equal(await here.has(SHOP, NOW + 2 * SECOND), true);
  });

  it('do not come from a read that began before a change', async () => {
    const store = new OriginStore();
    const origins = store.open();
    const before = origins.has(SHOP, NOW);
    store.allowed.delete(SHOP);
    store.notifyOfChange();
    assert.equal(await origins.has(SHOP, NOW), false);
    assert.equal(await before, true);
    assert.equal(await origins.has(SHOP, NOW), false);
  });

  it('are read again when the clock is set back, and then remembered', async () => {
    const store = new OriginStore();
    const origins = store.open();
    await origins.has(SHOP, NOW);
    for (let i = 0; i < 3; i++) await origins.has(SHOP, NOW - 5 * SECOND);
    assert.equal(store.reads, 2);
  });

  it('are the last known ones while the database is unavailable, and none without a last result', async () => {
    const store = new OriginStore();
    const origins = store.open();
    await origins.has(SHOP, NOW);
    await origins.has('https://other.example', NOW);
    store.failure = new DatabaseUnavailable(new Error('disconnected'));
    store.notifyOfChange();
    for (const later of [0, SECOND, 100 * SECOND]) {
      assert.equal(await origins.has(SHOP, NOW + later), true);
      assert.equal(await origins.has('https://other.example', NOW + later), false);
      assert.equal(await origins.has('https://new.example', NOW + later), false);
    }
    assert.equal(store.errors.length, 9);
    store.failure = undefined;
    store.allowed.delete(SHOP);
    assert.equal(await origins.has(SHOP, NOW + 100 * SECOND), false);
    store.failure = new DatabaseUnavailable(new Error('disconnected'));
    assert.equal(await origins.has(SHOP, NOW + 200 * SECOND), false, 'the result before the last one counts');
  });

  it('that cannot be read are reported once for concurrent requests', async () => {
    const store = new OriginStore();
    const origins = store.open();
    store.failure = new DatabaseUnavailable(new Error('disconnected'));
    await Promise.all(Array.from({ length: 50 }, () => origins.has(SHOP, NOW)));
    assert.equal(store.errors.length, 1);
  });

  it('stay known, in bounded memory, during a flood of invented origins', async () => {
    const store = new OriginStore();
    const origins = store.open();
    await origins.has(SHOP, NOW);
    for (let i = 0; i < 1_000; i++) await origins.has(`https://${i}.example`, NOW);
    assert.ok(origins.size <= 101, `${origins.size} origins`);
    assert.equal(origins.has(SHOP, NOW), true);
    await origins.has('https://0.example', NOW);
    assert.equal(store.reads, 1_002, 'nothing is left of an origin that was removed');
  });

  it('are limited themselves', async () => {
    const store = new OriginStore();
    const origins = store.open();
    for (let i = 0; i < 1_000; i++) {
      store.allowed.add(`https://${i}.example`);
      assert.equal(await origins.has(`https://${i}.example`, NOW), true);
    }
    assert.ok(origins.size <= 100, `${origins.size} origins`);
  });

  it('are shorter than a text that no key can list, which is not read', () => {
    const store = new OriginStore();
    assert.equal(store.open().has(`https://${'x'.repeat(300)}.example`, NOW), false);
    assert.equal(store.reads, 0);
  });
});
