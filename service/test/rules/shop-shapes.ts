export type Resource = 'categories' | 'pets' | 'inventory' | 'orders';

export type Fields = Record<string, unknown>;

/** A request with concrete values. `id` is the text from the path; a collection has none. A POST with one adjusts stock. */
export interface ModelRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  resource: Resource;
  id?: string;
  body?: Fields;
  /** The filters of a list. */
  query?: Record<string, string>;
  /** Whether the request has an If-Match that matches no state of the resource. */
  stale?: boolean;
}

const paths: Record<Resource, string> = {
  categories: '/categories',
  pets: '/pets',
  inventory: '/store/inventory',
  orders: '/store/orders',
};

/** The path of a request. A POST to an inventory entry adjusts its stock. */
export function pathOf(method: string, resource: Resource, id: string | number | undefined): string {
  if (id === undefined) return paths[resource];
  const path = `${paths[resource]}/${id}`;
  return resource === 'inventory' && method === 'POST' ? `${path}/adjustments` : path;
}

/** The status of each rejection that a shop operation can return. */
export const rejectionStatus: Record<string, number> = {
  invalid_request: 400,
  category_not_found: 404,
  pet_not_found: 404,
  order_not_found: 404,
  category_name_taken: 409,
  category_in_use: 409,
  pet_has_open_orders: 409,
  pet_not_available: 409,
  insufficient_stock: 409,
  stock_limit_exceeded: 409,
  out_of_stock: 409,
  invalid_status_transition: 409,
  order_has_no_pet: 409,
  order_already_complete: 409,
  precondition_failed: 412,
  unknown_category: 422,
  unknown_pet: 422,
};

type Rule = (value: unknown) => boolean;

const isName: Rule = value => typeof value === 'string' && /^[^\p{Cc}]{1,200}$/u.test(value.trim());
const isText: Rule = value => typeof value === 'string' && /^[^\0]{0,2000}$/u.test(value.trim());
const isId: Rule = value => Number.isSafeInteger(value) && (value as number) >= 1;
const isCount =
  (least: number): Rule =>
  value =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= 2 ** 31 - 1;
const isStatus: Rule = value => ['available', 'pending', 'sold'].includes(value as string);
const isDate: Rule = value =>
  typeof value === 'string' && /(Z|[+-]\d\d:\d\d)$/.test(value) && !Number.isNaN(Date.parse(value));
const isFlag: Rule = value => typeof value === 'boolean';

/** The rule of each field; the required fields of a POST or PUT; the fields that a merge patch may remove with null. */
const shapes: Record<
  Resource | 'adjustments',
  { fields: Record<string, Rule>; required: string[]; removable: string[] }
> = {
  categories: {
    fields: { id: isId, name: isName, description: isText },
    required: ['name'],
    removable: ['description'],
  },
  pets: {
    fields: { id: isId, name: isName, categoryId: isId, status: isStatus },
    required: ['name', 'categoryId'],
    removable: [],
  },
  inventory: { fields: { quantity: isCount(0) }, required: ['quantity'], removable: [] },
  adjustments: { fields: { delta: isCount(1 - 2 ** 31) }, required: ['delta'], removable: [] },
  orders: {
    fields: { id: isId, petId: isId, quantity: isCount(1), shipDate: isDate, complete: isFlag },
    required: [],
    removable: ['petId', 'quantity', 'shipDate', 'complete'],
  },
};

function isValid(resource: Resource, method: string, body: Fields): boolean {
  const isAdjustment = resource === 'inventory' && method === 'POST';
  const { fields, required, removable } = shapes[isAdjustment ? 'adjustments' : resource];
  const patch = method === 'PATCH';
  const complete = (patch && resource !== 'inventory') || required.every(field => field in body);
  return (
    complete &&
    Object.entries(body).every(
      ([field, value]) => fields[field]?.(value) || (patch && value === null && removable.includes(field)),
    )
  );
}

function isInt64(text: string): boolean {
  return /^(0|-?[1-9]\d*)$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

/** Whether the path and the body break a rule that needs no other resource to be checked. */
export function isMalformed({ method, resource, id, body }: ModelRequest): boolean {
  return (id !== undefined && !isInt64(id)) || (body !== undefined && !isValid(resource, method, body));
}

export function hasOtherId({ id, body }: ModelRequest): boolean {
  return id !== undefined && body?.id !== undefined && body.id !== Number(id);
}
