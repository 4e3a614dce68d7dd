import { closeSync, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3, { type Database } from 'better-sqlite3';
import { hashOf, newSecret } from '../../service/src/access/api-keys/secret.ts';
import { create } from '../harness/http-requests.ts';
import { startService } from '../harness/servers.ts';

export const PETS = 1_000_000;
const EVENTS = 1_000_000;
const ORDERS = 300_000;
const CATEGORIES = 1_000;
const DELIVERIES = 300_000;
const OUTCOMES = 300_000;
const KEYS = 10_000;

const DAY = 24 * 3_600_000;
/** Longer than any data is retained. */
const EXPIRED = 40 * DAY;

export interface FilledStore {
  dataDirectory: string;
  /** The administrator's key. */
  apiKey: string;
  /** A key with most scopes, but not `admin`. */
  ordinaryKey: string;
  /** A disabled webhook with deliveries. */
  webhookId: number;
  /** The secrets of many keys. */
  keys: string[];
}

/**
 * Creates a store with the most expensive distribution of data. 60 % of the pets are sold and in category 1, 39 % are available
 * and in category 3: both conditions of `categoryId=1&status=available` match many pets, but together they match none. The last
 * 1 % are pending and in category 2, and only their names start with `zz`.
 */
export async function fillStore(): Promise<FilledStore> {
  const store = await emptyStore();
  const db = openFile(store.dataDirectory);
  const keys = Array.from({ length: KEYS }, () => newSecret());
  db.transaction(() => {
    fillShop(db);
    fillEvents(db, Date.now());
    fillDeliveries(db, store.webhookId, Date.now(), 'pending');
    const insertKey = db.prepare(
      "INSERT INTO api_keys (name, name_key, hash, kind, plan, scopes, created_at) VALUES ('Bench', 'bench', ?, 'secret', 'business', 'pets:read', ?)",
    );
    for (const key of keys) insertKey.run(hashOf(key), Date.now());
  })();
  close(db);
  return { ...store, keys };
}

/** Creates a store in which everything has expired, with the deliveries of a deleted webhook. */
export async function fillExpiredStore(): Promise<FilledStore> {
  const store = await emptyStore();
  const db = openFile(store.dataDirectory);
  const expired = Date.now() - EXPIRED;
  db.transaction(() => {
    fillEvents(db, expired);
    fillDeliveries(db, store.webhookId, expired, 'delivered');
    fillDeliveries(db, store.webhookId + 1, expired, 'pending');
    db.prepare('UPDATE webhooks SET deleted_at = ? WHERE id = ?').run(expired, store.webhookId + 1);
    const insert = db.prepare(
      `INSERT INTO idempotency_keys (api_key_id, idempotency_key, fingerprint, location, body, created_at)
       VALUES (1, ?, ?, '/pets/1', ?, ?)`,
    );
    const fingerprint = Buffer.alloc(32);
    const body = JSON.stringify({ id: 1, name: 'Bella the Labrador', categoryId: 1, status: 'available' });
    for (let i = 0; i < OUTCOMES; i++) insert.run(`order-${i}-${i * 7919}`, fingerprint, body, expired);
  })();
  close(db);
  return { ...store, keys: [] };
}

async function emptyStore() {
  await using server = await startService({ privateWebhooks: true });
  const { port, dataDirectory } = server;
  const apiKey = await server.administratorKey();
  // The modules for this page are compiled once and then cached between starts, as on any machine.
  await (await fetch(`http://127.0.0.1:${port}/docs`)).text();
  const { key: ordinaryKey } = await create<{ key: string }>(port, '/keys', apiKey, {
    name: 'Bench',
    plan: 'enterprise',
    quotas: { perMinute: 1_000_000, perDay: 1_000_000 },
    scopes: ['pets:read', 'orders:read', 'inventory:read', 'events:read', 'webhooks:write'],
  });
  const ids: number[] = [];
  // The webhooks belong to the ordinary key, which can read only its own.
  for (const url of ['http://127.0.0.1:9/a', 'http://127.0.0.1:9/b']) {
    ids.push((await create<{ id: number }>(port, '/webhooks', ordinaryKey, { url, enabled: false })).id);
  }
  return { dataDirectory, apiKey, ordinaryKey, webhookId: ids[0]! };
}

/** Writes all data to disk. Otherwise the first commit of the service would wait for that. */
function close(db: Database): void {
  const file = db.name;
  db.close();
  const descriptor = openSync(file, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** Opens the file without syncs: an aborted bench starts again. */
function openFile(dataDirectory: string): Database {
  const db = new BetterSqlite3(join(dataDirectory, 'petstore.db'));
  db.pragma('synchronous = OFF');
  db.pragma('cache_size = -500000');
  db.pragma('foreign_keys = OFF');
  return db;
}

function fillShop(db: Database): void {
  const category = db.prepare('INSERT INTO categories (name, name_key) VALUES (?, ?)');
  for (let i = 0; i < CATEGORIES; i++) category.run(`A category ${i}`, `a category ${i}`);
  const pet = db.prepare(
    'INSERT INTO pets (name, name_key, category_id, status, quantity) VALUES (?, ?, ?, ?, ?)',
  );
  const word = db.prepare('INSERT INTO pet_words (word, name_key, pet_id) VALUES (?, ?, ?)');
  for (let i = 0; i < PETS; i++) {
    const [category, status, quantity] =
      i < PETS * 0.6 ? [1, 'sold', 0] : i < PETS * 0.99 ? [3, 'available', 5] : [2, 'pending', 1];
    const name = nameOf((i * 7919) % PETS, i >= PETS * 0.99 ? 'zz' : 'a');
    pet.run(name, name, category, status, quantity);
    // The service finds the first word of a name by the name.
    word.run(name.split(' ')[1], name, i + 1);
  }
  const order = db.prepare('INSERT INTO orders (pet_id, quantity, ship_date, complete) VALUES (?, 1, ?, ?)');
  for (let i = 0; i < ORDERS; i++) {
    const isOld = i < ORDERS * 0.99;
    order.run(isOld ? 1 + (i % 2) : null, isOld ? SHIPPED + i : null, isOld ? 1 : 0);
  }
}

/** When the first order was shipped. Each later order was shipped a millisecond later. */
export const SHIPPED = Date.UTC(2026, 0, 1);

export function nameOf(place: number, prefix = 'a'): string {
  return `${prefix} ${String(place).padStart(7, '0')}`;
}

function fillEvents(db: Database, time: number): void {
  const insert = db.prepare(
    "INSERT INTO events (type, subject, time, data, actor) VALUES (?, ?, ?, ?, 'keys/1')",
  );
  for (let i = 1; i <= EVENTS; i++) {
    const data = `{"id":${i},"name":"Bella the Labrador","categoryId":1,"status":"available"}`;
    insert.run(i === EVENTS ? 'category.created' : 'pet.updated', `pets/${i % 100_000}`, time, data);
  }
}

/** Adds deliveries, half of them for events for administrators. */
function fillDeliveries(
  db: Database,
  webhookId: number,
  time: number,
  status: 'pending' | 'delivered',
): void {
  const insert = db.prepare(
    `INSERT INTO webhook_deliveries (webhook_id, event_id, type, subject, payload, status, created_at, finished_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const payload = JSON.stringify({ specversion: '1.0', data: 'x'.repeat(300) });
  for (let i = 1; i <= DELIVERIES; i++) {
    const type = i < DELIVERIES / 2 ? 'pet.updated' : 'key.updated';
    const subject = type === 'pet.updated' ? `pets/${i}` : 'keys/1';
    insert.run(webhookId, i, type, subject, payload, status, time, status === 'pending' ? null : time);
  }
}
