import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../../contract/errors.ts';
import { MAX_INT32 } from '../../contract/schema.ts';
import type { PetStatus } from './pet.ts';
import {
  adjustUnits,
  initialQuantity,
  returnUnits,
  type Stock,
  setQuantity,
  setStatus,
  settleCompleted,
  takeUnits,
} from './stock.ts';

const statuses: PetStatus[] = ['available', 'pending', 'sold'];

/** The stock that a rule returns, as `status quantity`, or the code of the error that it throws. */
function outcome(rule: () => Stock): string {
  try {
    const { status, quantity } = rule();
    return `${status} ${quantity}`;
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return error.code;
  }
}

function stock(text: string): Stock {
  const [status, quantity] = text.split(' ');
  return { petId: 7, status: status as PetStatus, quantity: Number(quantity) };
}

describe('the transition table', () => {
  const open = true;
  const none = false;

  const setting: [before: string, to: PetStatus, openOrders: boolean, after: string][] = [
    ['available 3', 'available', none, 'available 3'],
    ['available 3', 'pending', none, 'pending 3'],
    ['available 3', 'pending', open, 'pending 3'],
    ['available 3', 'sold', none, 'sold 0'],
    ['available 3', 'sold', open, 'pet_has_open_orders'],
    ['pending 3', 'available', none, 'available 3'],
    ['pending 3', 'available', open, 'available 3'],
    ['pending 0', 'available', open, 'out_of_stock'],
    ['pending 0', 'pending', open, 'pending 0'],
    ['pending 3', 'sold', none, 'sold 0'],
    ['pending 3', 'sold', open, 'pet_has_open_orders'],
    ['pending 0', 'sold', open, 'pet_has_open_orders'],
    ['sold 0', 'available', none, 'out_of_stock'],
    ['sold 0', 'pending', none, 'invalid_status_transition'],
    ['sold 0', 'sold', none, 'sold 0'],
  ];
  for (const [before, to, openOrders, after] of setting) {
    it(`staff set ${before}${openOrders ? ' with open orders' : ''} to ${to}: ${after}`, () => {
      assert.equal(
        outcome(() => setStatus(stock(before), to, openOrders)),
        after,
      );
    });
  }

  const counting: [before: string, quantity: number, openOrders: boolean, after: string][] = [
    ['available 3', 0, none, 'sold 0'],
    ['available 3', 0, open, 'pending 0'],
    ['available 3', 5, none, 'available 5'],
    ['pending 3', 0, none, 'sold 0'],
    ['pending 3', 0, open, 'pending 0'],
    ['pending 3', 5, none, 'pending 5'],
    ['pending 0', 0, open, 'pending 0'],
    ['pending 0', 5, open, 'available 5'],
    ['sold 0', 0, none, 'sold 0'],
    ['sold 0', 5, none, 'available 5'],
  ];
  for (const [before, quantity, openOrders, after] of counting) {
    it(`stock of ${before}${openOrders ? ' with open orders' : ''} set to ${quantity}: ${after}`, () => {
      assert.equal(
        outcome(() => setQuantity(stock(before), quantity, openOrders)),
        after,
      );
    });
  }

  const ordering: [what: string, rule: () => Stock, after: string][] = [
    ['an order takes some of the units', () => takeUnits(stock('available 3'), 2), 'available 1'],
    ['an order takes the last unit', () => takeUnits(stock('available 3'), 3), 'pending 0'],
    ['an order requests too many units', () => takeUnits(stock('available 3'), 4), 'insufficient_stock'],
    ['an order requests a pet on hold', () => takeUnits(stock('pending 3'), 1), 'pet_not_available'],
    ['an order requests a sold pet', () => takeUnits(stock('sold 0'), 1), 'pet_not_available'],
    ['the order of the last units is cancelled', () => returnUnits(stock('pending 0'), 2), 'available 2'],
    ['an order for a pet on hold is cancelled', () => returnUnits(stock('pending 3'), 2), 'pending 5'],
    ['an order is cancelled', () => returnUnits(stock('available 3'), 2), 'available 5'],
    [
      'returned units would exceed the limit',
      () => returnUnits(stock(`available ${MAX_INT32}`), 1),
      'stock_limit_exceeded',
    ],
    ['an order grows', () => adjustUnits(stock('available 3'), 5, 7), 'available 1'],
    [
      'an order grows at the limit',
      () => adjustUnits(stock(`available ${MAX_INT32}`), 2, 3),
      'available 2147483646',
    ],
    ['an order for a pet on hold grows', () => adjustUnits(stock('pending 3'), 1, 2), 'pet_not_available'],
    ['the order of the last unit grows', () => adjustUnits(stock('pending 0'), 1, 2), 'insufficient_stock'],
    ['the order of the last units shrinks', () => adjustUnits(stock('pending 0'), 2, 1), 'available 1'],
    ['the order of the last units stays', () => adjustUnits(stock('pending 0'), 2, 2), 'pending 0'],
    ['the last open order is completed', () => settleCompleted(stock('pending 0'), none), 'sold 0'],
    ['one of several open orders is completed', () => settleCompleted(stock('pending 0'), open), 'pending 0'],
    [
      'an order is completed with stock left',
      () => settleCompleted(stock('available 3'), none),
      'available 3',
    ],
    ['an order for a pet on hold is completed', () => settleCompleted(stock('pending 3'), none), 'pending 3'],
  ];
  for (const [what, rule, after] of ordering) {
    it(`${what}: ${after}`, () => assert.equal(outcome(rule), after));
  }

  it('covers every pair of statuses', () => {
    const named = new Set(setting.map(([before, to]) => `${before.split(' ')[0]} ${to}`));
    assert.equal(named.size, statuses.length ** 2);
  });
});

/** The stock of a pet and the units of its open orders. */
interface Shelf {
  stock: Stock;
  openOrders: number[];
}

const units = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom(MAX_INT32, MAX_INT32 - 1) },
);

const shelf: fc.Arbitrary<Shelf> = fc
  .record({
    status: fc.constantFrom(...statuses),
    quantity: fc.oneof(fc.constant(0), units),
    openOrders: fc.array(units, { maxLength: 3 }),
  })
  .map(({ status, quantity, openOrders }) => ({ stock: { petId: 7, status, quantity }, openOrders }))
  .filter(isValid);

function isValid({ stock: { status, quantity }, openOrders }: Shelf): boolean {
  if (!Number.isInteger(quantity) || quantity < 0 || quantity > MAX_INT32) return false;
  if (status === 'available') return quantity >= 1;
  if (status === 'sold') return quantity === 0 && openOrders.length === 0;
  return quantity >= 1 || openOrders.length > 0;
}

/** One change of a shelf. It throws when the rules reject the change. */
type Step = (shelf: Shelf) => Shelf;

const setsStatus = fc.constantFrom(...statuses).map(
  (status): Step =>
    ({ stock, openOrders }) => ({
      stock: setStatus(stock, status, openOrders.length > 0),
      openOrders,
    }),
);

const setsQuantity = fc.oneof(fc.constant(0), units).map(
  (quantity): Step =>
    ({ stock, openOrders }) => ({
      stock: setQuantity(stock, quantity, openOrders.length > 0),
      openOrders,
    }),
);

const orders = units.map(
  (taken): Step =>
    ({ stock, openOrders }) => ({
      stock: takeUnits(stock, taken),
      openOrders: [...openOrders, taken],
    }),
);

const adjusts = units.map(
  (after): Step =>
    ({ stock, openOrders: [first, ...rest] }) =>
      first === undefined
        ? { stock, openOrders: [] }
        : { stock: adjustUnits(stock, first, after), openOrders: [after, ...rest] },
);

const cancels = fc.constant<Step>(({ stock, openOrders: [first, ...rest] }) =>
  first === undefined ? { stock, openOrders: [] } : { stock: returnUnits(stock, first), openOrders: rest },
);

const completes = fc.constant<Step>(({ stock, openOrders: [first, ...rest] }) =>
  first === undefined
    ? { stock, openOrders: [] }
    : { stock: settleCompleted(stock, rest.length > 0), openOrders: rest },
);

/** Returns the shelf after a step, or the same shelf if the rules reject the step with an ApiError. */
function after(before: Shelf, step: Step): Shelf {
  try {
    return step(before);
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return before;
  }
}

describe('the rules of stock', () => {
  it('keep the invariants under any sequence of changes', () => {
    const step = fc.oneof(setsStatus, setsQuantity, orders, adjusts, cancels, completes);
    fc.assert(
      fc.property(shelf, fc.array(step, { maxLength: 12 }), (start, steps) => {
        let now = start;
        for (const step of steps) {
          now = after(now, step);
          assert.ok(isValid(now), JSON.stringify(now));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('lose no unit and create none while orders are placed, changed and cancelled', () => {
    const total = ({ stock, openOrders }: Shelf) =>
      openOrders.reduce((sum, held) => sum + held, stock.quantity);
    fc.assert(
      fc.property(shelf, fc.array(fc.oneof(orders, adjusts, cancels), { maxLength: 12 }), (start, steps) => {
        assert.equal(total(steps.reduce(after, start)), total(start));
      }),
      { numRuns: 2_000 },
    );
  });

  it('never modify their argument', () => {
    fc.assert(
      fc.property(
        shelf,
        fc.oneof(setsStatus, setsQuantity, orders, adjusts, cancels, completes),
        (start, step) => {
          Object.freeze(start.stock);
          after(start, step);
        },
      ),
    );
  });

  it('start a pet with one unit, or none when it is created sold', () => {
    assert.deepEqual(statuses.map(initialQuantity), [1, 1, 0]);
  });

  it('return exactly the units that a cancelled order took', () => {
    fc.assert(
      fc.property(
        shelf.filter(({ stock }) => stock.status === 'available'),
        units,
        ({ stock }, taken) => {
          fc.pre(taken <= stock.quantity);
          assert.deepEqual(returnUnits(takeUnits(stock, taken), taken), stock);
        },
      ),
    );
  });
});
