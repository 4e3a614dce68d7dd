import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../../contract/errors.ts';
import { MAX_INT32 } from '../../contract/schema.ts';
import type { PetStatus } from './pet.ts';
import {
  adjustUnits,
  returnUnits,
  type Stock,
  setQuantity,
  setStatus,
  settleCompleted,
  takeUnits,
} from './stock.ts';

/** The stock of a pet and the units of its open orders. */
interface Shelf {
  stock: Stock;
  orders: number[];
}

/** A change of a shelf. It throws when the rules reject the change. */
type Step = (shelf: Shelf) => Shelf;

const units = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom(MAX_INT32, MAX_INT32 - 1) },
);

const status = fc.constantFrom<PetStatus[]>('available', 'pending', 'sold');

/** Changes that leave the sum of the units in stock and in orders as it is. */
const ordering: fc.Arbitrary<Step> = fc.oneof(
  units.map(
    (taken): Step =>
      ({ stock, orders }) => ({
        stock: takeUnits(stock, taken),
        orders: [taken, ...orders],
      }),
  ),
  units.map(after => onFirst((stock, first) => [adjustUnits(stock, first, after), after])),
  fc.constant(onFirst((stock, first) => [returnUnits(stock, first)])),
);

const others: fc.Arbitrary<Step> = fc.oneof(
  status.map(
    (to): Step =>
      ({ stock, orders }) => ({ stock: setStatus(stock, to, orders.length > 0), orders }),
  ),
  fc.oneof(fc.constant(0), units).map(
    (quantity): Step =>
      ({ stock, orders }) => ({
        stock: setQuantity(stock, quantity, orders.length > 0),
        orders,
      }),
  ),
  fc.constant(onFirst((stock, _, isLast) => [settleCompleted(stock, !isLast)])),
);

/** A change of the first open order, if there is one. Returns the stock, and the units of the order if it stays open. */
function onFirst(change: (stock: Stock, first: number, isLast: boolean) => [Stock, ...number[]]): Step {
  return shelf => {
    const [first, ...rest] = shelf.orders;
    if (first === undefined) return shelf;
    const [stock, ...open] = change(shelf.stock, first, rest.length === 0);
    return { stock, orders: [...open, ...rest] };
  };
}

/** The shelf after a step, or the same shelf if the rules reject the step. */
function after(before: Shelf, step: Step): Shelf {
  try {
    return step(before);
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return before;
  }
}

function isValid({ stock: { status, quantity }, orders }: Shelf): boolean {
  if (!Number.isInteger(quantity) || quantity < 0 || quantity > MAX_INT32) return false;
  if (status === 'available') return quantity >= 1;
  if (status === 'sold') return quantity === 0 && orders.length === 0;
  return quantity >= 1 || orders.length > 0;
}

it('the rules of stock keep its invariants, and orders neither lose nor create a unit', () => {
  const total = ({ stock, orders }: Shelf) => orders.reduce((sum, units) => sum + units, stock.quantity);
  const step = fc.oneof(
    ordering.map(run => ({ run, isBalanced: true })),
    others.map(run => ({ run, isBalanced: false })),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30, size: 'max' }), steps => {
      let shelf: Shelf = { stock: { petId: 7, status: 'available', quantity: 1 }, orders: [] };
      for (const { run, isBalanced } of steps) {
        const next = after(shelf, run);
        assert.ok(isValid(next), JSON.stringify(next));
        if (isBalanced) assert.equal(total(next), total(shelf));
        shelf = next;
      }
    }),
    { numRuns: 1_000 },
  );
});
