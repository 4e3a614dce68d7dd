import { type Fields, hasOtherId, isMalformed, type ModelRequest, type Resource } from './shop-shapes.ts';

interface Category {
  name: string;
  description?: string;
}

interface Pet {
  name: string;
  categoryId: number;
  status: 'available' | 'pending' | 'sold';
  /** Units that can still be ordered. */
  quantity: number;
}

interface Order {
  petId?: number;
  quantity: number;
  shipDate?: string;
  complete: boolean;
}

/** `codes`: any of these rejections is right, because the request breaks more than one rule. */
export type Expected = { status: 200 | 201; body: object } | { status: 204 } | { codes: string[] };

/** Thrown for a request that breaks rules. Not an Error: there are a hundred thousand, and stack traces are slow. */
class Rejection {
  readonly codes: string[];
  constructor(codes: string[]) {
    this.codes = codes;
  }
}

const LARGEST = 2_147_483_647;

/** The shop in memory: the rules in their simplest form, for comparison with the service. */
export class ShopModel {
  categories = new Map<number, Category>();
  pets = new Map<number, Pet>();
  orders = new Map<number, Order>();

  /** The expected response. `newId` is the ID that the service assigned, in case the request creates something. */
  respond(request: ModelRequest, now: number, newId: number): Expected {
    const undo = this.undoPoint();
    try {
      return this.#response(request, now, newId);
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      undo();
      return { codes: error.codes };
    }
  }

  /** Returns a function that undoes everything since. */
  undoPoint(): () => void {
    const before = {
      categories: copyOf(this.categories),
      pets: copyOf(this.pets),
      orders: copyOf(this.orders),
    };
    return () => void Object.assign(this, before);
  }

  #response(request: ModelRequest, now: number, newId: number): Expected {
    const { method, resource, id, body, query, stale } = request;
    const target = id === undefined ? newId : Number(id);
    rejectIf(isMalformed(request) || hasOtherId(request), 'invalid_request');
    if (id !== undefined) this.#find(resource, target, stale ?? false);
    if (method === 'DELETE') {
      this.#delete(resource, target);
      return { status: 204 };
    }
    if (body) this.#write(resource, target, body, method, now);
    if (method === 'POST' && id === undefined) return { status: 201, body: this.#show(resource, target) };
    if (id === undefined) return { status: 200, body: this.#list(resource, query ?? {}) };
    return { status: 200, body: this.#show(resource, target) };
  }

  #write(resource: Resource, id: number, body: Fields, method: string, now: number): void {
    const before = this[resource === 'inventory' ? 'pets' : resource].get(id);
    const fields = method === 'PATCH' ? mergePatch({ ...before }, body) : body;
    if (resource === 'categories') this.#setCategory(id, fields);
    else if (resource === 'inventory' && method === 'POST') this.#adjustStock(id, body.delta as number);
    else if (resource === 'inventory') this.#setStock(id, body.quantity as number);
    else if (resource === 'pets') before ? this.#changePet(id, fields) : this.#createPet(id, fields);
    else before ? this.#changeOrder(id, fields, now) : this.#placeOrder(id, fields, now);
  }

  #delete(resource: Resource, id: number): void {
    if (resource === 'categories') this.#deleteCategory(id);
    else if (resource === 'pets') this.#deletePet(id);
    else this.#cancelOrder(id);
  }

  #show(resource: Resource, id: number): Fields {
    const { name, categoryId, status, quantity } = this.pets.get(id) ?? ({} as Pet);
    switch (resource) {
      case 'categories':
        return { id, ...this.categories.get(id) };
      case 'pets':
        return { id, name, categoryId, status };
      case 'inventory':
        return { petId: id, quantity, status };
      case 'orders':
        return { id, ...this.orders.get(id) };
    }
  }

  #list(resource: Resource, { quantityBelow, ...equal }: Record<string, string>): Fields[] {
    const ids = [...this[resource === 'inventory' ? 'pets' : resource].keys()].sort((a, b) => a - b);
    const items = ids
      .map(id => this.#show(resource, id))
      .filter(item => Object.entries(equal).every(([field, value]) => String(item[field]) === value));
    if (quantityBelow === undefined) return items;
    return items
      .filter(({ quantity }) => (quantity as number) < Number(quantityBelow))
      .sort((a, b) => (a.quantity as number) - (b.quantity as number));
  }

  #find(resource: Resource, id: number, stale: boolean): void {
    const [code, known] = {
      categories: ['category_not_found', this.categories.has(id)],
      pets: ['pet_not_found', this.pets.has(id)],
      inventory: ['pet_not_found', this.pets.has(id)],
      orders: ['order_not_found', this.orders.has(id)],
    }[resource] as [string, boolean];
    rejectIf(!known, code);
    rejectIf(stale, 'precondition_failed');
  }

  #setCategory(id: number, { name, description }: Fields): void {
    const taken = [...this.categories].some(
      ([otherId, other]) => otherId !== id && other.name.toLowerCase() === trimmed(name).toLowerCase(),
    );
    rejectIf(taken, 'category_name_taken');
    this.categories.set(id, {
      name: trimmed(name),
      ...(description !== undefined && { description: trimmed(description) }),
    });
  }

  #deleteCategory(id: number): void {
    const inUse = [...this.pets.values()].some(pet => pet.categoryId === id);
    rejectIf(inUse, 'category_in_use');
    this.categories.delete(id);
  }

  #createPet(id: number, { name, categoryId, status = 'available' }: Fields): void {
    rejectIf(!this.categories.has(categoryId as number), 'unknown_category');
    const quantity = status === 'sold' ? 0 : 1;
    this.pets.set(id, { name: trimmed(name), categoryId, status, quantity } as Pet);
  }

  #changePet(id: number, { name, categoryId, status }: Fields): void {
    const pet = this.pets.get(id)!;
    const to = status ?? pet.status;
    const broken = {
      unknown_category: !this.categories.has(categoryId as number),
      invalid_status_transition: pet.status === 'sold' && to === 'pending',
      out_of_stock: pet.status !== 'available' && to === 'available' && pet.quantity === 0,
      pet_has_open_orders: to === 'sold' && this.#hasOpenOrders(id),
    };
    const codes = Object.entries(broken).flatMap(([code, isBroken]) => (isBroken ? [code] : []));
    if (codes.length > 0) throw new Rejection(codes);
    Object.assign(pet, { name: trimmed(name), categoryId, status: to });
    if (to === 'sold') pet.quantity = 0;
  }

  #deletePet(id: number): void {
    rejectIf(this.#hasOpenOrders(id), 'pet_has_open_orders');
    this.pets.delete(id);
  }

  #setStock(petId: number, quantity: number): void {
    const pet = this.pets.get(petId)!;
    if (quantity === 0) pet.status = this.#hasOpenOrders(petId) ? 'pending' : 'sold';
    else if (pet.quantity === 0) pet.status = 'available';
    pet.quantity = quantity;
  }

  #adjustStock(petId: number, delta: number): void {
    const quantity = this.pets.get(petId)!.quantity + delta;
    rejectIf(quantity < 0, 'insufficient_stock');
    rejectIf(quantity > LARGEST, 'stock_limit_exceeded');
    this.#setStock(petId, quantity);
  }

  #placeOrder(id: number, fields: Fields, now: number): void {
    const order = orderOf(fields);
    rejectIf(order.complete && order.petId === undefined, 'order_has_no_pet');
    this.#take(order.petId, order.quantity);
    this.#keepOrder(id, order, now);
  }

  #changeOrder(id: number, fields: Fields, now: number): void {
    const before = this.orders.get(id)!;
    const after = orderOf(fields);
    if (before.complete) {
      const same = (['petId', 'quantity', 'complete'] as const).every(
        field => before[field] === after[field],
      );
      rejectIf(!same, 'order_already_complete');
      // A missing or removed ship date stays as it is: a completed order always has one.
      this.orders.set(id, { ...after, shipDate: after.shipDate ?? before.shipDate! });
      return;
    }
    rejectIf(after.complete && after.petId === undefined, 'order_has_no_pet');
    if (after.petId !== before.petId) {
      this.#giveBack(before.petId, before.quantity);
      this.#take(after.petId, after.quantity);
    } else if (after.quantity < before.quantity) {
      this.#giveBack(after.petId, before.quantity - after.quantity);
    } else if (after.quantity > before.quantity && after.petId !== undefined) {
      // A pet is pending without stock because orders took it: a missing unit is a lack of stock.
      rejectIf(this.pets.get(after.petId)!.quantity === 0, 'insufficient_stock');
      this.#take(after.petId, after.quantity - before.quantity);
    }
    this.#keepOrder(id, after, now);
  }

  #cancelOrder(id: number): void {
    const { petId, quantity, complete } = this.orders.get(id)!;
    rejectIf(complete, 'order_already_complete');
    this.orders.delete(id);
    this.#giveBack(petId, quantity);
  }

  /** Keeps an order open or completes it. A pet without stock is sold when its last open order completes. */
  #keepOrder(id: number, order: Order, now: number): void {
    this.orders.set(id, order);
    if (!order.complete) return;
    order.shipDate ??= new Date(now).toISOString();
    const pet = this.pets.get(order.petId!)!;
    if (pet.quantity === 0 && !this.#hasOpenOrders(order.petId!)) pet.status = 'sold';
  }

  #take(petId: number | undefined, units: number): void {
    if (petId === undefined) return;
    const pet = this.pets.get(petId);
    if (!pet) throw new Rejection(['unknown_pet']);
    rejectIf(pet.status !== 'available', 'pet_not_available');
    rejectIf(pet.quantity < units, 'insufficient_stock');
    pet.quantity -= units;
    if (pet.quantity === 0) pet.status = 'pending';
  }

  #giveBack(petId: number | undefined, units: number): void {
    if (petId === undefined) return;
    const pet = this.pets.get(petId)!;
    rejectIf(pet.quantity + units > LARGEST, 'stock_limit_exceeded');
    if (pet.quantity === 0) pet.status = 'available';
    pet.quantity += units;
  }

  #hasOpenOrders(petId: number): boolean {
    return [...this.orders.values()].some(order => order.petId === petId && !order.complete);
  }
}

/** Rows contain no objects, so each copy is independent of its original. structuredClone takes ten times as long. */
function copyOf<Row extends object>(rows: ReadonlyMap<number, Row>): Map<number, Row> {
  return new Map(Array.from(rows, ([id, row]) => [id, { ...row }]));
}

function rejectIf(broken: boolean, code: string): void {
  if (broken) throw new Rejection([code]);
}

function trimmed(text: unknown): string {
  return (text as string).trim();
}

function mergePatch(target: Fields, patch: Fields): Fields {
  return Object.fromEntries(Object.entries({ ...target, ...patch }).filter(([, value]) => value !== null));
}

function orderOf({ petId, quantity = 1, shipDate, complete = false }: Fields): Order {
  return {
    ...(petId !== undefined && { petId }),
    quantity,
    ...(shipDate !== undefined && { shipDate: new Date(shipDate as string).toISOString() }),
    complete,
  } as Order;
}
