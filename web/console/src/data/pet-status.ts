import type { PetStatus } from '@petstore/client';

/** What decides which statuses a pet can get. `undefined`: not known, because the key may not read it or it is loading. */
export interface StatusFacts {
  stock: number | undefined;
  hasOpenOrders: boolean | undefined;
}

export const statuses: readonly PetStatus[] = ['available', 'pending', 'sold'];

/** Returns why a pet cannot get a status; `undefined` if it can, as far as is known. The service decides in the end. */
export function reasonAgainst(
  from: PetStatus,
  to: PetStatus,
  { stock, hasOpenOrders }: StatusFacts,
): string | undefined {
  if (from === to) return undefined;
  if (from === 'sold') {
    return to === 'available'
      ? 'Out of stock: set its stock above 0, and it is available again'
      : 'A sold animal cannot be put on hold';
  }
  if (to === 'sold' && hasOpenOrders) return 'It has open orders: complete or cancel them first';
  if (to === 'available' && stock === 0)
    return hasOpenOrders
      ? 'All units are ordered: raise its stock or cancel an order'
      : 'Out of stock: set its stock above 0';
  return undefined;
}

/** Returns why no unit of a pet can be sold or ordered; `undefined` if one can, as far as is known. */
export function reasonAgainstSale(status: PetStatus, stock: number | undefined): string | undefined {
  if (status === 'available') return undefined;
  if (status === 'sold') return 'It is sold: restock it first';
  // An animal that staff have put on hold has units.
  return stock === 0
    ? 'All units are ordered: complete or cancel an order first'
    : 'It is on hold: make it available first';
}
