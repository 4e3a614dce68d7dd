import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiResponse, Client } from '../support/client.ts';
import type { Random } from '../support/random.ts';
import { type Creation, type KnownRow, type Ledger, type OrderRow, type PetRow, post } from './ledger.ts';
import { type Effect, effectOf } from './rejected-write.ts';
import type { Shelf } from './shelf.ts';

/** Ship dates, one per millisecond: each identifies an order. */
let nextShipDate = Date.UTC(2027, 0, 1);
/** Names that no pet of the shelf has: each identifies a pet. */
let nextNumber = 1;
const nextName = () => `Pet of a client ${nextNumber++}`;

/** Shorter than Retry-After, in milliseconds, because the outages of tests are short. */
const REPEAT_AFTER = 100;

/**
 * A client that writes, one request after another. No other client writes to the pets and orders that it creates, so it
 * knows their state. The stock that it orders from is shared by all clients.
 */
export class WritingClient {
  readonly #api: Client;
  readonly #ledger: Ledger;
  readonly #random: Random;
  readonly #shelf: Shelf;
  readonly #pets: KnownRow<PetRow>[] = [];
  readonly #orders: KnownRow<OrderRow>[] = [];
  #expectsOutages = false;

  constructor(api: Client, ledger: Ledger, random: Random, shelf: Shelf) {
    this.#api = api;
    this.#ledger = ledger;
    this.#random = random;
    this.#shelf = shelf;
  }

  /** Resolves when the service has ended. Rejects when a response is wrong. */
  async writeUntilDisconnected(): Promise<void> {
    try {
      for (;;) await this.#writeSomething();
    } catch (error) {
      if (!isDisconnect(error)) throw error;
    }
  }

  /** Writes until the signal. Rejects when a response is wrong. */
  async writeUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) await this.#writeSomething();
  }

  /** Writes through outages: records the effect that each 503 states, and repeats POSTs with a key. */
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
    if (choice < 0.6) return this.#change(pet, '/pets', { name: nextName() });
    if (choice < 0.65) return this.#setStock(pet);
    if (choice < 0.7) return this.#remove(this.#pets, '/pets');
    if (choice < 0.8) return this.#remove(this.#orders, '/store/orders');
    if (choice < 0.9) return this.#complete(order);
    return this.#moveUnits(order);
  }

  #createPet(): Promise<void> {
    const row: PetRow = { name: nextName(), status: 'available', quantity: 1 };
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

  async #create<Row extends PetRow | OrderRow>(creation: Creation, mine: KnownRow<Row>[]): Promise<void> {
    if (this.#random.next() < 0.5) creation.idempotencyKey = crypto.randomUUID();
    this.#ledger.creations.add(creation);
    const response = await this.#responseTo(
      () => post(this.#api, creation),
      creation.idempotencyKey !== undefined,
    );
    const effect = this.#effectOf(response);
    if (effect !== 'uncertain') this.#ledger.creations.delete(creation);
    if (effect !== 'done') return;
    const { id } = assertDone(response, 201);
    const known = { table: creation.table, id, row: creation.row as Row };
    this.#ledger.add(known);
    mine.push(known);
  }

  #change(pet: KnownRow<PetRow>, path: string, patch: Partial<PetRow>): Promise<void> {
    return this.#write(pet, { ...pet.row!, ...patch }, () => this.#api.patch(`${path}/${pet.id}`, patch));
  }

  #setStock(pet: KnownRow<PetRow>): Promise<void> {
    const quantity = this.#random.between(1, 9);
    return this.#write(pet, { ...pet.row!, quantity }, () =>
      this.#api.put(`/store/inventory/${pet.id}`, { quantity }),
    );
  }

  async #complete(order: KnownRow<OrderRow>): Promise<void> {
    this.#orders.pop();
    await this.#write(order, { ...order.row!, complete: 1 }, () =>
      this.#api.patch(`/store/orders/${order.id}`, { complete: true }),
    );
  }

  #moveUnits(order: KnownRow<OrderRow>): Promise<void> {
    const [petId, quantity] = [this.#random.pick(this.#shelf.petIds), this.#random.between(1, 3)];
    return this.#write(order, { ...order.row!, pet_id: petId, quantity }, () =>
      this.#api.patch(`/store/orders/${order.id}`, { petId, quantity }),
    );
  }

  async #remove<Row extends PetRow | OrderRow>(mine: KnownRow<Row>[], path: string): Promise<void> {
    const known = mine.pop()!;
    await this.#write(known, null, () => this.#api.delete(`${path}/${known.id}`));
  }

  /** Until the response arrives, the row may be in the earlier or the later state. */
  async #write<Row>(
    known: KnownRow<Row>,
    after: Row | null,
    send: () => Promise<ApiResponse>,
  ): Promise<void> {
    known.maybe = after;
    const response = await this.#responseTo(send, false);
    const effect = this.#effectOf(response);
    if (effect === 'uncertain') {
      this.#drop(known);
      return;
    }
    delete known.maybe;
    if (effect === 'unchanged') return;
    assertDone(response, after === null ? 204 : 200);
    known.row = after;
    this.#ledger.acknowledge();
  }

  /** Stops changing a row whose state this client does not know. */
  #drop(known: object): void {
    for (const mine of [this.#pets, this.#orders] as object[][]) {
      if (mine.includes(known)) mine.splice(mine.indexOf(known), 1);
    }
  }

  /** Sends a request. A repeatable one is sent again until no outage rejects it. */
  async #responseTo(send: () => Promise<ApiResponse>, isRepeatable: boolean): Promise<ApiResponse> {
    for (;;) {
      const response = await send();
      if (this.#effectOf(response) === 'done') return response;
      await sleep(REPEAT_AFTER);
      if (!isRepeatable) return response;
    }
  }

  #effectOf(response: ApiResponse): Effect {
    return this.#expectsOutages ? effectOf(response) : 'done';
  }
}

function assertDone({ status, body, text }: ApiResponse, expected: number): { id: number } {
  assert.equal(status, expected, text);
  return body;
}

export function isDisconnect(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && /^(ECONNRESET|ECONNREFUSED|EPIPE)$/.test(String(error.code))
  );
}
