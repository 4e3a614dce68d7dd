import { formatDateTime } from '../../service/src/kit/dates.ts';
import { mergePatch } from '../../service/src/kit/merge-patch.ts';
import { type ListPath, pageOf } from './lists.ts';
import type { Values } from './rules.ts';
import type { Shop } from './shop.ts';

/** The input of an operation, checked. */
interface Input {
  /** The ID in the path. */
  id: number;
  query: Values;
  body: Values;
  /** Throws unless the conditions of the request hold for the present state. */
  guard: (current: object) => void;
}

/** What an operation returns, before it is a response. */
export interface Result {
  status: 200 | 201 | 204;
  body?: unknown;
  location?: string;
  /** The resource whose ETag the response has. */
  tagged?: object | undefined;
  /** The cursor of the next page, and the length of the list. */
  next?: string | undefined;
  total?: number;
}

type Handler = (shop: Shop, input: Input) => Result;

const read = (resource: object): Result => ({ status: 200, body: resource, tagged: resource });
const created = (path: string, resource: { id: number }): Result => ({
  status: 201,
  body: resource,
  tagged: resource,
  location: `${path}/${resource.id}`,
});
const removed = (): Result => ({ status: 204 });

const list =
  (path: ListPath): Handler =>
  (shop, { query }) => {
    const { items, total, next } = pageOf(shop, path, query);
    return {
      status: 200,
      body: items,
      next,
      tagged: path === '/pets' && query.id?.length === 1 && query.q === undefined ? items[0] : undefined,
      ...(query.count && { total }),
    };
  };

/** A function from the present state to that after a PUT, and after a PATCH (RFC 7396). */
const replaced =
  ({ guard, body }: Input) =>
  (current: object): never => {
    guard(current);
    return body as never;
  };
const patched =
  ({ guard, body }: Input) =>
  (current: object): never => {
    guard(current);
    return mergePatch(current, body) as never;
  };

const now = () => formatDateTime(Date.now());

/** The operations of the shop. */
export const handlers: Readonly<Record<string, Handler>> = {
  'GET /pets': list('/pets'),
  'POST /pets': (shop, { body }) => created('/pets', shop.createPet(body as never)),
  'GET /pets/{petId}': (shop, { id }) => read(shop.pet(id)),
  'PUT /pets/{petId}': (shop, input) => read(shop.updatePet(input.id, replaced(input))),
  'PATCH /pets/{petId}': (shop, input) => read(shop.updatePet(input.id, patched(input))),
  'DELETE /pets/{petId}': (shop, { id, guard }) => {
    shop.deletePet(id, guard);
    return removed();
  },
  'GET /categories': list('/categories'),
  'POST /categories': (shop, { body }) => created('/categories', shop.createCategory(body as never)),
  'GET /categories/{categoryId}': (shop, { id }) => read(shop.category(id)),
  'PUT /categories/{categoryId}': (shop, input) => read(shop.updateCategory(input.id, replaced(input))),
  'PATCH /categories/{categoryId}': (shop, input) => read(shop.updateCategory(input.id, patched(input))),
  'DELETE /categories/{categoryId}': (shop, { id, guard }) => {
    shop.deleteCategory(id, guard);
    return removed();
  },
  'GET /store/orders': list('/store/orders'),
  'POST /store/orders': (shop, { body }) => created('/store/orders', shop.placeOrder(body, now())),
  'GET /store/orders/{orderId}': (shop, { id }) => read(shop.order(id)),
  'PUT /store/orders/{orderId}': (shop, input) => read(shop.updateOrder(input.id, replaced(input), now())),
  'PATCH /store/orders/{orderId}': (shop, input) => read(shop.updateOrder(input.id, patched(input), now())),
  'DELETE /store/orders/{orderId}': (shop, { id, guard }) => {
    shop.cancelOrder(id, guard);
    return removed();
  },
  'GET /store/inventory': list('/store/inventory'),
  'GET /store/inventory/{petId}': (shop, { id }) => {
    shop.pet(id);
    return read(shop.stock.get(id)!);
  },
  'PUT /store/inventory/{petId}': (shop, input) => read(shop.setStock(input.id, replaced(input))),
  'PATCH /store/inventory/{petId}': (shop, input) => read(shop.setStock(input.id, replaced(input))),
  'POST /store/inventory/{petId}/adjustments': (shop, { id, body, guard }) =>
    read(shop.adjustStock(id, body as never, guard)),
};
