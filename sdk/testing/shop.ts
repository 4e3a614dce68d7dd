import * as rules from '../../service/src/catalog/pets/stock.ts';
import { ApiError } from '../../service/src/contract/errors.ts';
import { foldCase } from '../../service/src/kit/text.ts';
import type { Category, InventoryItem, NewPet, StoredOrder, StoredPet } from '../src/contract.ts';
import { defined } from '../src/defined.ts';

/** The most resources of a kind. */
const MOST = 10_000;

type Shelf<Resource> = ReadonlyMap<number, Resource>;
/** Each field that a resource has in the contract, also without a value: so the compiler reports a new one that is left out. */
type Fields<Resource> = { [Field in keyof Required<Resource>]: Resource[Field] };
type Order = { [Field in keyof StoredOrder]?: StoredOrder[Field] | undefined };
/** Checks the conditions of a request on the present state. */
type Guard = (current: object) => void;

/** Receives each change, as the service has it in its log. */
type Append = (
  type: string,
  subject: string,
  data: object,
  details?: { reason?: string; note?: string },
) => void;

/**
 * The resources of a shop, and the operations on them in the order in which the service does their steps. The rules of stock are
 * those of the service itself.
 */
export class Shop {
  readonly categories: Shelf<Category> = new Map();
  readonly pets: Shelf<StoredPet> = new Map();
  readonly stock: Shelf<InventoryItem> = new Map();
  readonly orders: Shelf<StoredOrder> = new Map();
  readonly #lastIds = { categories: 0, pets: 0, orders: 0 };
  readonly #onChange: Append;
  /** What undoes the steps of the present transaction, and its events. */
  readonly #undo: (() => void)[] = [];
  readonly #events: Parameters<Append>[] = [];
  #depth = 0;

  constructor(onChange: Append) {
    this.#onChange = onChange;
  }

  /** Runs operations that succeed or fail together. Transactions can be part of others. */
  transaction<T>(run: () => T): T {
    const [steps, events] = [this.#undo.length, this.#events.length];
    this.#depth++;
    try {
      return run();
    } catch (error) {
      while (this.#undo.length > steps) this.#undo.pop()!();
      this.#events.length = events;
      throw error;
    } finally {
      if (--this.#depth === 0) {
        this.#undo.length = 0;
        for (const event of this.#events.splice(0)) this.#onChange(...event);
      }
    }
  }

  createCategory({ name, description }: Omit<Category, 'id'>): Category {
    this.#rejectTaken(name);
    const category = categoryOf(this.#nextId('categories'), { name, description });
    this.#put(this.categories, category.id, category);
    this.#append('category.created', `categories/${category.id}`, category);
    return category;
  }

  updateCategory(id: number, change: (current: Category) => Omit<Category, 'id'>): Category {
    const before = this.category(id);
    const after = categoryOf(id, change(before));
    this.#rejectTaken(after.name, id);
    this.#store(this.categories, 'category.updated', `categories/${id}`, id, before, after);
    return after;
  }

  deleteCategory(id: number, guard: Guard): void {
    const category = this.category(id);
    guard(category);
    if ([...this.pets.values()].some(({ categoryId }) => categoryId === id))
      throw new ApiError('category_in_use', `Category ${id} still has pets; move or delete them first`);
    this.#put(this.categories, id, undefined);
    this.#append('category.deleted', `categories/${id}`, category);
  }

  createPet({ name, categoryId, status = 'available' }: NewPet): StoredPet {
    this.#rejectUnknownCategory(categoryId);
    const id = this.#nextId('pets');
    const pet = defined<Fields<StoredPet>>({ id, name, categoryId, status });
    this.#put(this.pets, id, pet);
    this.#put(this.stock, id, itemOf({ petId: id, quantity: rules.initialQuantity(status), status }));
    this.#append('pet.created', `pets/${id}`, pet);
    return pet;
  }

  updatePet(id: number, change: (current: StoredPet) => NewPet): StoredPet {
    const before = this.pet(id);
    const stock = this.stock.get(id)!;
    const { name, categoryId, status = stock.status } = change(before);
    const after = rules.setStatus(stock, status, this.#hasOpenOrders(id));
    this.#rejectUnknownCategory(categoryId);
    const pet = defined<Fields<StoredPet>>({ id, name, categoryId, status: after.status });
    this.#store(this.pets, 'pet.updated', `pets/${id}`, id, before, pet);
    this.#store(this.stock, 'inventory.updated', `store/inventory/${id}`, id, stock, itemOf(after));
    return pet;
  }

  deletePet(id: number, guard: Guard): void {
    const pet = this.pet(id);
    guard(pet);
    if (this.#hasOpenOrders(id)) throw rules.petHasOpenOrders(id);
    this.#put(this.pets, id, undefined);
    this.#put(this.stock, id, undefined);
    this.#append('pet.deleted', `pets/${id}`, pet);
  }

  setStock(id: number, change: (current: InventoryItem) => { quantity: number }): InventoryItem {
    this.pet(id);
    return this.#changeStock(id, stock =>
      rules.setQuantity(stock, change(itemOf(stock)).quantity, this.#hasOpenOrders(id)),
    );
  }

  adjustStock(
    id: number,
    { delta, ...details }: { delta: number; reason?: string; note?: string },
    guard: Guard,
  ): InventoryItem {
    this.pet(id);
    guard(this.stock.get(id)!);
    return this.#changeStock(
      id,
      stock => rules.adjustQuantity(stock, delta, this.#hasOpenOrders(id)),
      details,
    );
  }

  placeOrder(body: Order, now: string): StoredOrder {
    const wanted = settled(orderOf(0, body), now);
    const { petId } = wanted;
    if (petId !== undefined) this.#take(petId, wanted.quantity);
    const order = orderOf(this.#nextId('orders'), wanted);
    this.#put(this.orders, order.id, order);
    if (order.complete) this.#settle(order.petId!);
    this.#append('order.placed', `store/orders/${order.id}`, order);
    if (order.complete) this.#append('order.completed', `store/orders/${order.id}`, order);
    return order;
  }

  updateOrder(id: number, change: (current: StoredOrder) => Order, now: string): StoredOrder {
    const before = this.order(id);
    const wanted = orderOf(id, change(before));
    if (before.complete && !isSame(before, orderOf(id, { ...wanted, shipDate: before.shipDate }))) {
      throw new ApiError(
        'order_already_complete',
        `Order ${id} is complete: only its \`shipDate\` can change`,
      );
    }
    const after = settled(wanted, before.complete ? before.shipDate! : now);
    if (!before.complete) this.#moveUnits(before, after);
    const completes = !before.complete && after.complete;
    this.#put(this.orders, id, after);
    if (completes) this.#settle(after.petId!);
    if (!isSame(before, after))
      this.#append(completes ? 'order.completed' : 'order.updated', `store/orders/${id}`, after);
    return after;
  }

  cancelOrder(id: number, guard: Guard): void {
    const order = this.order(id);
    guard(order);
    if (order.complete)
      throw new ApiError(
        'order_already_complete',
        `Order ${id} is complete: only open orders can be deleted`,
      );
    this.#put(this.orders, id, undefined);
    if (order.petId !== undefined) this.#giveBack(order.petId, order.quantity);
    this.#append('order.cancelled', `store/orders/${id}`, order);
  }

  category(id: number): Category {
    return this.categories.get(id) ?? fail('category_not_found', `There is no category ${id}`);
  }

  pet(id: number): StoredPet {
    return this.pets.get(id) ?? fail('pet_not_found', `There is no pet ${id}`);
  }

  order(id: number): StoredOrder {
    return this.orders.get(id) ?? fail('order_not_found', `There is no order ${id}`);
  }

  #nextId(kind: 'categories' | 'pets' | 'orders'): number {
    if (this[kind].size >= MOST) fail('internal_error', `The test service has room for ${MOST} ${kind}`);
    this.#undo.push(() => void this.#lastIds[kind]--);
    return ++this.#lastIds[kind];
  }

  /** Stores a resource, or removes it. */
  #put<R extends object>(shelf: Shelf<R>, id: number, resource: R | undefined): void {
    const all = shelf as Map<number, R>;
    const before = all.get(id);
    const set = (state: R | undefined) => void (state ? all.set(id, state) : all.delete(id));
    set(resource);
    this.#undo.push(() => set(before));
  }

  #append(...event: Parameters<Append>): void {
    this.#events.push(event);
  }

  #rejectTaken(name: string, exceptId?: number): void {
    const other = [...this.categories.values()].find(category => foldCase(category.name) === foldCase(name));
    if (other && other.id !== exceptId)
      throw new ApiError('category_name_taken', `The name "${name}" is taken by category ${other.id}`);
  }

  #rejectUnknownCategory(id: number): void {
    if (!this.categories.has(id))
      throw new ApiError(
        'unknown_category',
        `Field \`categoryId\` names category ${id}, which does not exist`,
      );
  }

  #hasOpenOrders(petId: number): boolean {
    return [...this.orders.values()].some(order => order.petId === petId && !order.complete);
  }

  #take(petId: number, units: number): void {
    if (!this.stock.has(petId))
      fail('unknown_pet', `Field \`petId\` names pet ${petId}, which does not exist`);
    this.#changeStock(petId, stock => rules.takeUnits(stock, units));
  }

  #giveBack(petId: number, units: number): void {
    this.#changeStock(petId, stock => rules.returnUnits(stock, units));
  }

  #settle(petId: number): void {
    this.#changeStock(petId, stock => rules.settleCompleted(stock, this.#hasOpenOrders(petId)));
  }

  #moveUnits(before: StoredOrder, after: StoredOrder): void {
    if (before.petId === after.petId) {
      if (after.petId !== undefined)
        this.#changeStock(after.petId, stock => rules.adjustUnits(stock, before.quantity, after.quantity));
      return;
    }
    if (before.petId !== undefined) this.#giveBack(before.petId, before.quantity);
    if (after.petId !== undefined) this.#take(after.petId, after.quantity);
  }

  #changeStock(
    id: number,
    rule: (stock: rules.Stock) => rules.Stock,
    details?: { reason?: string; note?: string },
  ): InventoryItem {
    const before = this.stock.get(id)!;
    const after = itemOf(rule(before));
    this.#store(this.stock, 'inventory.updated', `store/inventory/${id}`, id, before, after, details);
    const pet = this.pets.get(id)!;
    this.#store(this.pets, 'pet.updated', `pets/${id}`, id, pet, { ...pet, status: after.status });
    return after;
  }

  #store<R extends object>(
    shelf: Shelf<R>,
    type: string,
    subject: string,
    id: number,
    before: R,
    after: R,
    details?: { reason?: string; note?: string },
  ): void {
    if (isSame(before, after)) return;
    this.#put(shelf, id, after);
    this.#append(type, subject, after, details);
  }
}

function fail(code: ConstructorParameters<typeof ApiError>[0], message: string): never {
  throw new ApiError(code, message);
}

/** The fields in the order of the contract, in which the service writes them. */
function categoryOf(
  id: number,
  { name, description }: { name: string; description?: string | undefined },
): Category {
  return defined<Fields<Category>>({ id, name, description });
}

function itemOf({ petId, quantity, status }: rules.Stock): InventoryItem {
  return defined<Fields<InventoryItem>>({ petId, quantity, status });
}

function orderOf(id: number, { petId, quantity = 1, shipDate, complete = false }: Order): StoredOrder {
  return defined<Fields<StoredOrder>>({ id, petId, quantity, shipDate, complete });
}

/** A completed order needs a pet, and has a ship date. */
function settled(order: StoredOrder, shippedAt: string): StoredOrder {
  if (!order.complete) return order;
  if (order.petId === undefined)
    throw new ApiError('order_has_no_pet', 'A draft order cannot be completed: set its `petId` first');
  return orderOf(order.id, { ...order, shipDate: order.shipDate ?? shippedAt });
}

function isSame(a: object, b: object): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
