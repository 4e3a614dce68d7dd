import { hashOf, newSecret } from '../../service/src/access/api-keys/secret.ts';
import { numbersTo } from '../../service/test/support/numbers.ts';
import { post } from '../harness/http.ts';
import { startService } from '../harness/servers.ts';
import { administratorOf, prepareService } from '../harness/shop.ts';
import { insertAll, MANY_ROWS } from './fill-shop.ts';
import { copyOf, type FilledStores, openStore, type Store } from './filled-stores.ts';

const EVENTS = 1_000_000;
const DELIVERIES = 300_000;
const OUTCOMES = 300_000;
const KEYS = 10_000;

const DAY = 24 * 3_600_000;
/** Longer than any data is retained. */
const EXPIRED = 200 * DAY;

/** A store with a long history. */
export interface OldStore extends Store {
  /** The administrator's key. */
  apiKey: string;
  /** A key with most scopes, but not `admin`. */
  ordinaryKey: string;
  categoryId: number;
  /** A disabled webhook with deliveries. */
  webhookId: number;
  /** The secrets of many keys. */
  keys: string[];
}

/** Returns a store with 1,000,000 pets and events. */
export async function largeStore(stores: FilledStores): Promise<OldStore> {
  const store = await withWebhooks(copyOf(await stores.get('SQLite', MANY_ROWS)));
  const db = await openStore(store);
  await db.run(eventsOf(Date.now()));
  await db.run(SEALS);
  await db.run(deliveriesOf(store.webhookId, Date.now(), 'pending'));
  const keys = Array.from({ length: KEYS }, () => newSecret());
  const rows = keys.map(key => [
    'Bench',
    'bench',
    hashOf(key),
    'secret',
    'business',
    'pets:read',
    Date.now(),
  ]);
  await insertAll(db, 'api_keys (name, name_key, hash, kind, plan, scopes, created_at)', rows);
  await db.close();
  return { ...store, keys };
}

/** Returns a store in which everything has expired, with the deliveries of a deleted webhook. */
export async function expiredStore(): Promise<OldStore> {
  const store = await withWebhooks();
  const db = await openStore(store);
  const expired = Date.now() - EXPIRED;
  await db.run(eventsOf(expired));
  await db.run(SEALS);
  await db.run(deliveriesOf(store.webhookId, expired, 'delivered'));
  await db.run(deliveriesOf(store.webhookId + 1, expired, 'pending'));
  await db.run('UPDATE webhooks SET deleted_at = ? WHERE id = ?', [expired, store.webhookId + 1]);
  await db.run(
    `INSERT INTO idempotency_keys (api_key_id, idempotency_key, fingerprint, location, body, created_at) ${numbersTo(OUTCOMES)}
     SELECT 1, 'order-' || n || '-' || (n * 7919), zeroblob(32), '/pets/1', '{"id":1,"name":"Bella the Labrador","categoryId":1,"status":"available"}',
       ${expired} FROM numbers`,
  );
  await db.close();
  return store;
}

/** Creates two webhooks in a store, or in a new one. They belong to the ordinary key, which can read only its own. */
async function withWebhooks(
  store?: Store & { access: { apiKey: string; categoryId: number } },
): Promise<OldStore> {
  await using server = await startService({
    ...store,
    env: { PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' },
  });
  const { port, dataDirectory } = server;
  const { apiKey: ordinaryKey, categoryId } = store?.access ?? (await prepareService(server));
  const { apiKey } = await administratorOf(server);
  // The modules for this page are compiled once and then cached between starts, as on any machine.
  await (await fetch(`http://127.0.0.1:${port}/docs`)).text();
  const ids: number[] = [];
  for (const url of ['http://127.0.0.1:9/a', 'http://127.0.0.1:9/b']) {
    const webhook = { url, enabled: false };
    ids.push((await post<{ id: number }>({ port, apiKey: ordinaryKey }, '/webhooks', webhook)).id);
  }
  return { dataDirectory, env: {}, apiKey, ordinaryKey, categoryId, webhookId: ids[0]!, keys: [] };
}

function eventsOf(time: number): string {
  return `INSERT INTO events (type, subject, time, data, actor) ${numbersTo(EVENTS)}
    SELECT CASE WHEN n = ${EVENTS} THEN 'category.created' ELSE 'pet.updated' END, 'pets/' || (n % 100000), ${time},
      '{"id":' || n || ',"name":"Bella the Labrador","categoryId":1,"status":"available"}', 'keys/1' FROM numbers`;
}

/** Seals of these events, by which they expire: groups as large as the service makes them, with seals that nothing verifies. */
const SEALS = `INSERT INTO event_seals (last_id, first_id, seal, digests, time)
  SELECT max(id), min(id), hex(zeroblob(32)), hex(zeroblob(4 * count(*))), max(time) FROM events
  WHERE id > (SELECT coalesce(max(last_id), 0) FROM event_seals) GROUP BY (id - 1) / 1000`;

/** Half of the deliveries are for events for administrators. */
function deliveriesOf(webhookId: number, time: number, status: 'pending' | 'delivered'): string {
  const payload = JSON.stringify({ specversion: '1.0', data: 'x'.repeat(300) });
  const half = DELIVERIES / 2;
  return `INSERT INTO webhook_deliveries (webhook_id, event_id, type, subject, payload, status, created_at, finished_at) ${numbersTo(DELIVERIES)}
    SELECT ${webhookId}, n, CASE WHEN n < ${half} THEN 'pet.updated' ELSE 'key.updated' END,
      CASE WHEN n < ${half} THEN 'pets/' || n ELSE 'keys/1' END, '${payload}', '${status}', ${time},
      ${status === 'pending' ? 'NULL' : time} FROM numbers`;
}
