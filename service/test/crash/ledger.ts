import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { ApiResponse, Client } from '../support/client.ts';

/** Reads rows of a store that the service does not know of. */
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

/** What tells one created row from all others: clients choose it, so that a row can be found whose ID was never heard. */
const marker = { pets: 'name', orders: 'ship_date' } as const;

export type Table = keyof typeof marker;

/** A row as its last acknowledged write left it; `null` when that deleted it. */
export interface Kept<Row = PetRow | OrderRow> {
  table: Table;
  id: number;
  row: Row | null;
  /** What a write without an answer may have made of it. */
  maybe?: Row | null;
}

/** A POST that has no answer yet: its row is there as a whole or not at all. */
export interface Creation {
  table: Table;
  path: string;
  body: object;
  row: PetRow | OrderRow;
  idempotencyKey?: string;
}

/** Sends a creation; the same again when it was sent before. */
export function post(api: Client, { path, body, idempotencyKey }: Creation): Promise<ApiResponse> {
  return api.post(path, body, idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey });
}

/** Of the writes that had no answer: how many there were, and how many of them took effect. */
export interface Unanswered {
  sent: number;
  done: number;
}

/** All that the clients know of the store, to be held against it after a crash. */
export class Ledger {
  readonly kept: Kept[] = [];
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

  keep(kept: Kept): void {
    this.kept.push(kept);
    this.acknowledge();
  }

  /** Resolves when so many more writes are acknowledged. */
  hasGrownBy(count: number): Promise<void> {
    return new Promise(resolve => {
      this.#awaited = { count: this.#acknowledged + count, resolve };
    });
  }

  /**
   * Holds the store against everything known: every acknowledged write is there, every other one wholly or not at all,
   * and nothing else. What was uncertain is known from then on.
   */
  async check(read: Read, isKnown: (table: Table, id: number) => boolean): Promise<Unanswered> {
    const stored = { pets: await rowsOf(read, 'pets'), orders: await rowsOf(read, 'orders') };
    const unanswered: Unanswered = { sent: this.creations.size, done: 0 };
    for (const known of this.kept) {
      const { table, id, row, maybe } = known;
      const now = stored[table].get(id) ?? null;
      stored[table].delete(id);
      if (maybe === undefined) {
        assert.deepEqual(now, row, `${table} ${id} is not as it was acknowledged`);
        continue;
      }
      unanswered.sent++;
      if (isDeepStrictEqual(now, maybe)) unanswered.done++;
      else assert.deepEqual(now, row, `${table} ${id} is neither as before nor as after`);
      known.row = now as typeof row;
      delete known.maybe;
    }
    for (const creation of this.creations) {
      if (this.#settle(creation, stored[creation.table])) unanswered.done++;
    }
    for (const table of ['pets', 'orders'] as const) {
      const strays = [...stored[table]].filter(([id]) => !isKnown(table, id));
      assert.deepEqual(strays, [], `${table} that nobody made`);
    }
    return unanswered;
  }

  /** Whether a creation took effect. It is known from then on; one that can be sent again stays a creation as well. */
  #settle(creation: Creation, stored: Map<number, object>): boolean {
    const { table, row, idempotencyKey } = creation;
    const found = [...stored].filter(([, now]) => markOf(table, now) === markOf(table, row));
    assert.ok(found.length <= 1, `${table} ${markOf(table, row)} is there ${found.length} times`);
    for (const [id, now] of found) {
      assert.deepEqual(now, row, `${table} ${id} is half there`);
      stored.delete(id);
      this.kept.push({ table, id, row });
    }
    if (idempotencyKey === undefined) this.creations.delete(creation);
    return found.length === 1;
  }

  /** The known row that a creation made, if it did. */
  madeBy({ table, row }: Creation): Kept | undefined {
    return this.kept.find(kept => kept.table === table && isDeepStrictEqual(kept.row, row));
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
