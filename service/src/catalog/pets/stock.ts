import { ApiError } from '../../contract/errors.ts';
import { MAX_INT32 } from '../../contract/schema.ts';
import type { PetStatus } from './pet.ts';

/**
 * The rules of stock: pure functions that return the next stock of a pet or throw an ApiError. These invariants always hold:
 *
 *   quantity ≥ 0 · available ⇒ quantity ≥ 1 · sold ⇒ quantity = 0 and no open order ·
 *   pending with quantity 0 ⇒ open orders hold the units
 */
export interface Stock {
  petId: number;
  status: PetStatus;
  /** Units that can still be ordered. */
  quantity: number;
}

/** The number of units that a new pet starts with. */
export function initialQuantity(status: PetStatus): number {
  return status === 'sold' ? 0 : 1;
}

type StatusRule = (stock: Stock, hasOpenOrders: boolean) => Stock;

/** What happens when staff set the status: from a status (rows) to another (columns). */
const statusRules: Record<PetStatus, Record<PetStatus, StatusRule>> = {
  //           to: available            pending           sold
  available: { available: keep, pending: putOnHold, sold: markSold },
  pending: { available: releaseHold, pending: keep, sold: markSold },
  sold: { available: rejectOfferingSoldPet, pending: rejectHoldingSoldPet, sold: keep },
};

export function setStatus(stock: Stock, status: PetStatus, hasOpenOrders: boolean): Stock {
  return statusRules[stock.status][status](stock, hasOpenOrders);
}

/**
 * What happens when the quantity is set. The rows are the states before, the columns the new quantity:
 *
 * | before                       | 0, no open order | 0, open orders | 1 or more |
 * | available                    | sold             | pending        | available |
 * | pending, on hold by staff    | sold             | pending        | pending   |
 * | pending, orders hold all     | –                | pending        | available |
 * | sold                         | sold             | –              | available |
 */
export function setQuantity(stock: Stock, quantity: number, hasOpenOrders: boolean): Stock {
  if (quantity === 0) return { ...stock, quantity, status: hasOpenOrders ? 'pending' : 'sold' };
  return { ...stock, quantity, status: stock.quantity === 0 ? 'available' : stock.status };
}

/** What happens when staff change the quantity by `delta` units: the same as when they set the sum. */
export function adjustQuantity(stock: Stock, delta: number, hasOpenOrders: boolean): Stock {
  const quantity = stock.quantity + delta;
  if (quantity < 0) {
    throw new ApiError(
      'insufficient_stock',
      `Pet ${stock.petId} has ${stock.quantity} in stock, so ${-delta} cannot be removed: remove fewer`,
    );
  }
  if (quantity > MAX_INT32) throw stockLimitExceeded(stock, delta);
  return setQuantity(stock, quantity, hasOpenOrders);
}

/** Takes units for an order. Taking the last unit puts the pet on hold until its orders end. */
export function takeUnits(stock: Stock, units: number): Stock {
  if (stock.status !== 'available') {
    throw new ApiError(
      'pet_not_available',
      `Pet ${stock.petId} is ${stock.status} and cannot be ordered: choose another with GET /pets?status=available`,
    );
  }
  if (units > stock.quantity) throw insufficientStock(stock, String(units));
  const quantity = stock.quantity - units;
  return { ...stock, quantity, status: quantity === 0 ? 'pending' : 'available' };
}

/** Returns the units of an order. A pet that was on hold only because orders held all units can be ordered again. */
export function returnUnits(stock: Stock, units: number): Stock {
  const quantity = stock.quantity + units;
  if (quantity > MAX_INT32) throw stockLimitExceeded(stock, units);
  return { ...stock, quantity, status: stock.quantity === 0 ? 'available' : stock.status };
}

/** Changes an open order from `before` units to `after`: only the difference moves. */
export function adjustUnits(stock: Stock, before: number, after: number): Stock {
  if (after === before) return stock;
  if (after < before) return returnUnits(stock, before - after);
  // A pet that is on hold because orders hold all units has too little stock; staff did not put it on hold.
  const more = after - before;
  if (more > stock.quantity && (stock.quantity === 0 || stock.status === 'available')) {
    throw insufficientStock(stock, `${more} more`);
  }
  return takeUnits(stock, more);
}

/** Completes an order: the pet is sold if this was its last open order and no stock is left. */
export function settleCompleted(stock: Stock, hasOpenOrders: boolean): Stock {
  return stock.quantity === 0 && !hasOpenOrders ? { ...stock, status: 'sold' } : stock;
}

function keep(stock: Stock): Stock {
  return stock;
}

function putOnHold(stock: Stock): Stock {
  return { ...stock, status: 'pending' };
}

function releaseHold(stock: Stock): Stock {
  if (stock.quantity === 0) {
    throw new ApiError(
      'out_of_stock',
      `Open orders hold all units of pet ${stock.petId}: raise its quantity under /store/inventory/${stock.petId} instead`,
    );
  }
  return { ...stock, status: 'available' };
}

function markSold(stock: Stock, hasOpenOrders: boolean): Stock {
  if (hasOpenOrders) throw petHasOpenOrders(stock.petId);
  return { ...stock, status: 'sold', quantity: 0 };
}

function rejectOfferingSoldPet(stock: Stock): Stock {
  throw new ApiError(
    'out_of_stock',
    `Pet ${stock.petId} is sold and has no stock: raise its quantity under /store/inventory/${stock.petId} instead`,
  );
}

function rejectHoldingSoldPet(stock: Stock): Stock {
  throw new ApiError(
    'invalid_status_transition',
    `Pet ${stock.petId} is sold and cannot become pending: restock it under /store/inventory/${stock.petId} first`,
  );
}

function insufficientStock({ petId, quantity }: Stock, wanted: string): ApiError {
  return new ApiError(
    'insufficient_stock',
    `Pet ${petId} has ${quantity} in stock, but ${wanted} were requested: request fewer, or restock the pet first`,
  );
}

function stockLimitExceeded({ petId, quantity }: Stock, units: number): ApiError {
  return new ApiError(
    'stock_limit_exceeded',
    `Pet ${petId} has ${quantity} in stock; ${units} more would exceed ${MAX_INT32}: lower the stock first`,
  );
}

export function petHasOpenOrders(petId: number): ApiError {
  return new ApiError(
    'pet_has_open_orders',
    `Open orders hold units of pet ${petId}; complete or cancel them first`,
  );
}
