import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { ApiResponse, Client } from '../support/client.ts';

/** Reads rows of the store directly, without the service. */
export type Read = (sql: string) => object[] | Promise<object[]>;

export interface PetRow {
  name: string;
  status: 'available' | 'pending' | 'sold';
  quantity: number;
}

export interface OrderRow {
  pet_id: number;
  quantity: number;
  ship_date: number;
  complete: 0 | 1;
}

/** The column that identifies a created row. Clients choose its value, to find a row whose ID they did not receive. */
const marker = { pets: 'name', orders: 'ship_date' } as const;

export type Table = keyof typeof marker;

/** The state of a row after its last acknowledged write; `null` when that deleted it. */
export interface KnownRow<Row = PetRow | OrderRow> {
  table: Table;
  id: number;
  row: Row | null;
  /** The state that a write without a response may have produced. */
  maybe?: Row | null;
}

/** A POST that has no response yet: its row is stored completely or not at all. */
export interface Creation {
  table: Table;
  path: string;
  body: object;
  row: PetRow | OrderRow;
  idempotencyKey?: string;
}

/** Sends a creation; the same request when it was sent before. */
export function post(api: Client, { path, body, idempotencyKey }: Creation): Promise<ApiResponse> {
  return api.post(path, body, idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey });
}

/** The number of writes without a response, and how many of them took effect. */
interface Uncertain {
  sent: number;
  done: number;
}

/** All rows and writes that the clients know, to compare them with the store after a crash. */
export class Ledger {
  readonly rows: KnownRow[] = [];
  readonly creations = new Set<Creation>();
  #acknowledged = 0;
  #awaited: { count: number; resolve: () => void } | undefined;

  /** How many writes were acknowledged so far. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  acknowledge(): void {
    this.#acknowledged++;
    if (this.#awaited && this.#acknowledged >= this.#awaited.count) this.#awaited.resolve();
  }

  add(known: KnownRow): void {
    this.rows.push(known);
    this.acknowledge();
  }

  hasGrownBy(count: number): Promise<void> {
    return new Promise(resolve => {
      this.#awaited = { count: this.#acknowledged + count, resolve };
    });
  }

  /**
   * Compares the store with the ledger: every acknowledged write is stored, every other one completely or not at all,
   * and there are no other rows. Uncertain writes become known.
   */
  async check(read: Read, isKnown: (table: Table, id: number) => boolean): Promise<Uncertain> {
    const stored = { pets: await rowsOf(read, 'pets'), orders: await rowsOf(read, 'orders') };
    const uncertain: Uncertain = { sent: this.creations.size, done: 0 };
    for (const known of this.rows) {
      const { table, id, row, maybe } = known;
      const now = stored[table].get(id) ?? null;
      stored[table].delete(id);
      if (maybe === undefined) {
        assert.deepEqual(now, row, `${table} ${id} differs from its acknowledged state`);
        continue;
      }
      uncertain.sent++;
      if (isDeepStrictEqual(now, maybe)) uncertain.done++;
      else assert.deepEqual(now, row, `${table} ${id} is in neither the earlier nor the later state`);
      known.row = now as typeof row;
      delete known.maybe;
    }
    for (const creation of this.creations) {
      if (this.#settle(creation, stored[creation.table])) uncertain.done++;
    }
    for (const table of ['pets', 'orders'] as const) {
      const strays = [...stored[table]].filter(([id]) => !isKnown(table, id));
      assert.deepEqual(strays, [], `${table} that no client created`);
    }
    return uncertain;
  }

  /**
   * Whether a creation took effect. Its row becomes known. A creation that can be sent again also remains a creation.
   */
  #settle(creation: Creation, stored: Map<number, object>): boolean {
    const { table, row, idempotencyKey } = creation;
    const found = [...stored].filter(([, now]) => markOf(table, now) === markOf(table, row));
    assert.ok(found.length <= 1, `${table} ${markOf(table, row)} exists ${found.length} times`);
    for (const [id, now] of found) {
      assert.deepEqual(now, row, `${table} ${id} is incomplete`);
      stored.delete(id);
      this.rows.push({ table, id, row });
    }
    if (idempotencyKey === undefined) this.creations.delete(creation);
    return found.length === 1;
  }

  rowOf({ table, row }: Creation): KnownRow | undefined {
    return this.rows.find(known => known.table === table && isDeepStrictEqual(known.row, row));
  }
}

function markOf(table: Table, row: object): unknown {
  return (row as Record<string, unknown>)[marker[table]];
}

async function rowsOf(read: Read, table: Table): Promise<Map<number, object>> {
  const columns = { pets: 'name, status, quantity', orders: 'pet_id, quantity, ship_date, complete' }[table];
  const rows = (await read(`SELECT id, ${columns} FROM ${table}`)) as { id: number }[];
  return new Map(rows.map(({ id, ...row }) => [id, row]));
}
