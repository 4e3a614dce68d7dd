import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc, { type Arbitrary } from 'fast-check';
import { Category, categoryTable } from '../../src/catalog/categories/category.ts';
import { Pet, PetStatus, petTable } from '../../src/catalog/pets/pet.ts';
import { stockTable } from '../../src/catalog/pets/pet-queries.ts';
import type { Stock } from '../../src/catalog/pets/stock.ts';
import type { Schema } from '../../src/contract/schema.ts';
import type { Value } from '../../src/db/database.ts';
import type { Table } from '../../src/db/table.ts';
import { InventoryItem } from '../../src/inventory/inventory-item.ts';
import { Order, orderTable, type StoredOrder } from '../../src/orders/order.ts';

/** The values of a property: those of an optional one are sometimes `undefined`, which stands for an absent one. */
type Values<Resource> = { readonly [P in keyof Resource]-?: Arbitrary<Resource[P]> };

const id = fc.integer({ min: 1 });
const instant = fc
  .integer({ min: 0, max: Date.UTC(2100, 0) })
  .map(milliseconds => new Date(milliseconds).toISOString());
const status = fc.constantFrom(...PetStatus.enum);

function describeTable<Resource extends object>(
  { title, properties = {} }: Schema,
  table: Table<Resource>,
  values: Values<Resource>,
): void {
  const names = Object.keys(properties) as (keyof Resource & string)[];
  const resources = fc.record(values).map(withoutAbsent) as Arbitrary<Resource>;

  describe(`the table of ${title}`, () => {
    it('reads back what it has written, in the order of the contract', () => {
      fc.assert(
        fc.property(resources, id, (resource, storedId) => {
          const columns = table.written.split(', ');
          const written = table.valuesOf(resource);
          assert.equal(table.parameters.split(', ').length, written.length);
          const row: Record<string, Value> = { id: storedId };
          for (const [i, column] of columns.entries()) row[column] = written[i]!;
          const assigned = names.find(name => table.columnOf(name).isAssigned)!;
          const expected = { ...resource, [assigned]: storedId };
          const read = table.toResource(row);
          assert.deepEqual(read, expected);
          assert.deepEqual(
            Object.keys(read),
            names.filter(name => name in expected),
          );
        }),
      );
    });

    for (const name of names.filter(name => !table.columnOf(name).isAssigned)) {
      it(`notices a change of ${name}`, () => {
        fc.assert(
          fc.property(resources, values[name], (before, value) => {
            const after = withoutAbsent({ ...before, [name]: value }) as Resource;
            assert.equal(table.differ(before, after), before[name] !== value);
          }),
        );
      });
    }

    it('takes equal states for equal', () => {
      fc.assert(fc.property(resources, resource => !table.differ(resource, structuredClone(resource))));
    });
  });
}

function withoutAbsent(resource: object): object {
  return Object.fromEntries(Object.entries(resource).filter(([, value]) => value !== undefined));
}

/** Short texts of few letters are often equal, also without regard to case. */
const text = fc.oneof(fc.string(), fc.constantFrom('Dogs', 'dogs', 'DOGS'));

describeTable(Category, categoryTable, {
  id,
  name: text,
  description: fc.option(text, { nil: undefined }),
});

describeTable(Pet, petTable, { id, name: text, categoryId: id, status });

describeTable<Stock>(InventoryItem, stockTable, { petId: id, quantity: fc.nat(), status });

describeTable<StoredOrder>(Order, orderTable, {
  id,
  petId: fc.option(id, { nil: undefined }),
  quantity: id,
  shipDate: fc.option(instant, { nil: undefined }),
  complete: fc.boolean(),
});
