import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiResponse, Client } from '../support/client.ts';
import type { Random } from '../support/random.ts';
import { type Creation, type Kept, type Ledger, type OrderRow, type PetRow, post } from './ledger.ts';
import { type Became, becameOf } from './rejected-write.ts';
import type { Shelf } from './shelf.ts';

/** Ship dates, a millisecond each: they tell one order from another. */
let nextShipDate = Date.UTC(2027, 0, 1);
let nextName = 1;

/** Less than Retry-After says, in milliseconds: outages of tests are short. */
const REPEAT_AFTER = 20;

/**
 * One client that writes, one request after another. Only it writes to the pets and orders it makes, so that it knows what
 * they are; the stock it orders from is shared with all others.
 */
export class WritingClient {
  readonly #api: Client;
  readonly #ledger: Ledger;
  readonly #random: Random;
  readonly #shelf: Shelf;
  readonly #pets: Kept<PetRow>[] = [];
  readonly #orders: Kept<OrderRow>[] = [];
  #expectsOutages = false;

  constructor(api: Client, ledger: Ledger, random: Random, shelf: Shelf) {
    this.#api = api;
    this.#ledger = ledger;
    this.#random = random;
    this.#shelf = shelf;
  }

  /** Resolves when the service is gone; rejects when it answers what it should not. */
  async writeUntilCutOff(): Promise<void> {
    try {
      for (;;) await this.#writeSomething();
    } catch (error) {
      if (!isCutOff(error)) throw error;
    }
  }

  /** Writes until it is told to stop; rejects when the service answers what it should not. */
  async writeUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) await this.#writeSomething();
  }

  /** The same through outages: what is rejected with 503 becomes what the answer says, and POSTs with a key are repeated. */
  async writeThroughOutagesUntil(signal: AbortSignal): Promise<void> {
    this.#expectsOutages = true;
    await this.writeUntil(signal);
  }

  #writeSomething(): Promise<void> {
    const pet = this.#pets.at(-1);
    const order = this.#orders.at(-1);
    const choice = this.#random.next();
    if (choice < 0.2 || !pet) return this.#createPet();
    if (choice < 0.5 || !order) return this.#placeOrder();
    if (choice < 0.6) return this.#change(pet, '/pets', { name: `Pet ${nextName++}` });
    if (choice < 0.65) return this.#setStock(pet);
    if (choice < 0.7) return this.#remove(this.#pets, '/pets');
    if (choice < 0.8) return this.#remove(this.#orders, '/store/orders');
    if (choice < 0.9) return this.#complete(order);
    return this.#moveUnits(order);
  }

  #createPet(): Promise<void> {
    const row: PetRow = { name: `Pet ${nextName++}`, status: 'available', quantity: 1 };
    const body = { name: row.name, categoryId: this.#shelf.categoryId };
    return this.#create({ table: 'pets', path: '/pets', body, row }, this.#pets);
  }

  #placeOrder(): Promise<void> {
    const [petId, quantity, shipDate] = [
      this.#random.pick(this.#shelf.petIds),
      this.#random.between(1, 3),
      nextShipDate++,
    ];
    const body = { petId, quantity, shipDate: new Date(shipDate).toISOString() };
    const row: OrderRow = { pet_id: petId, quantity, ship_date: shipDate, complete: 0 };
    return this.#create({ table: 'orders', path: '/store/orders', body, row }, this.#orders);
  }

  async #create<Row extends PetRow | OrderRow>(creation: Creation, mine: Kept<Row>[]): Promise<void> {
    if (this.#random.next() < 0.5) creation.idempotencyKey = crypto.randomUUID();
    this.#ledger.creations.add(creation);
    const response = await this.#answerTo(
      () => post(this.#api, creation),
      creation.idempotencyKey !== undefined,
    );
    const became = this.#becameOf(response);
    if (became !== 'uncertain') this.#ledger.creations.delete(creation);
    if (became !== 'done') return;
    const { id } = assertDone(response, 201);
    const kept = { table: creation.table, id, row: creation.row as Row };
    this.#ledger.keep(kept);
    mine.push(kept);
  }

  #change(pet: Kept<PetRow>, path: string, patch: Partial<PetRow>): Promise<void> {
    return this.#write(pet, { ...pet.row!, ...patch }, () => this.#api.patch(`${path}/${pet.id}`, patch));
  }

  #setStock(pet: Kept<PetRow>): Promise<void> {
    const quantity = this.#random.between(1, 9);
    return this.#write(pet, { ...pet.row!, quantity }, () =>
      this.#api.put(`/store/inventory/${pet.id}`, { quantity }),
    );
  }

  async #complete(order: Kept<OrderRow>): Promise<void> {
    this.#orders.pop();
    await this.#write(order, { ...order.row!, complete: 1 }, () =>
      this.#api.patch(`/store/orders/${order.id}`, { complete: true }),
    );
  }

  #moveUnits(order: Kept<OrderRow>): Promise<void> {
    const [petId, quantity] = [this.#random.pick(this.#shelf.petIds), this.#random.between(1, 3)];
    return this.#write(order, { ...order.row!, pet_id: petId, quantity }, () =>
      this.#api.patch(`/store/orders/${order.id}`, { petId, quantity }),
    );
  }

  async #remove<Row extends PetRow | OrderRow>(mine: Kept<Row>[], path: string): Promise<void> {
    const kept = mine.pop()!;
    await this.#write(kept, null, () => this.#api.delete(`${path}/${kept.id}`));
  }

  /** Until the answer is here, the row may be as before or as after. */
  async #write<Row>(kept: Kept<Row>, after: Row | null, send: () => Promise<ApiResponse>): Promise<void> {
    kept.maybe = after;
    const response = await this.#answerTo(send, false);
    const became = this.#becameOf(response);
    if (became === 'uncertain') {
      this.#forget(kept);
      return;
    }
    delete kept.maybe;
    if (became === 'unchanged') return;
    assertDone(response, after === null ? 204 : 200);
    kept.row = after;
    this.#ledger.acknowledge();
  }

  /** What this client can no longer change, because it does not know what it is. */
  #forget(kept: object): void {
    for (const mine of [this.#pets, this.#orders] as object[][]) {
      if (mine.includes(kept)) mine.splice(mine.indexOf(kept), 1);
    }
  }

  /** A request that may be repeated is, until it is not rejected for an outage. */
  async #answerTo(send: () => Promise<ApiResponse>, isRepeatable: boolean): Promise<ApiResponse> {
    for (;;) {
      const response = await send();
      if (this.#becameOf(response) === 'done') return response;
      await sleep(REPEAT_AFTER);
      if (!isRepeatable) return response;
    }
  }

  #becameOf(response: ApiResponse): Became {
    return this.#expectsOutages ? becameOf(response) : 'done';
  }
}

function assertDone({ status, body, text }: ApiResponse, expected: number): { id: number } {
  assert.equal(status, expected, text);
  return body;
}

function isCutOff(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && /^(ECONNRESET|ECONNREFUSED|EPIPE)$/.test(String(error.code))
  );
}
