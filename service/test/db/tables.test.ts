import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc, { type Arbitrary } from 'fast-check';
import { Category, categoryTable } from '../../src/catalog/categories/category.ts';
import { InventoryItem } from '../../src/catalog/pets/inventory-item.ts';
import { Pet, petTable } from '../../src/catalog/pets/pet.ts';
import { stockTable } from '../../src/catalog/pets/pet-queries.ts';
import type { Schema } from '../../src/contract/schema.ts';
import type { Value } from '../../src/db/database.ts';
import type { Table } from '../../src/db/table.ts';
import { Order, orderTable } from '../../src/orders/order.ts';

/** Short texts of few letters are often equal, also when case is ignored. */
const text = fc.oneof(fc.string(), fc.constantFrom('Dogs', 'dogs', 'DOGS'));

const integer = fc.integer({ min: 0 });

const instant = fc
  .integer({ min: 0, max: Date.UTC(2100, 0) })
  .map(milliseconds => new Date(milliseconds).toISOString());

/** Values of a property, according to its schema. */
function valuesOf(schema: Schema): Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'integer') return integer;
  assert.equal(schema.type, 'string');
  return schema.format === 'date-time' ? instant : text;
}

function describeTable<Resource extends object>(
  { title, properties = {} }: Schema,
  table: Table<Resource>,
): void {
  const names = Object.keys(properties);
  const values = Object.fromEntries(
    names.map(name => {
      const some = valuesOf(properties[name]!);
      return [name, table.columnOf(name).isNullable ? fc.option(some, { nil: undefined }) : some];
    }),
  );
  const resources = fc.record(values).map(withoutAbsent) as Arbitrary<Resource>;

  describe(`the table of ${title}`, () => {
    it('reads back the values that it wrote, in the order of the contract', () => {
      fc.assert(
        fc.property(resources, integer, (resource, storedId) => {
          const written = table.valuesOf(resource);
          assert.equal(table.parameters.split(', ').length, written.length);
          const row: Record<string, Value> = { id: storedId };
          for (const [i, column] of table.written.entries()) row[column] = written[i]!;
          const assigned = names.find(name => table.columnOf(name).isAssigned)!;
          const expected = { ...resource, [assigned]: storedId };
          const read = table.toResource(row);
          assert.deepEqual(read, expected);
          assert.deepEqual(table.storedAs(storedId, resource), read);
          assert.deepEqual(
            Object.keys(read),
            names.filter(name => name in expected),
          );
        }),
      );
    });

    for (const name of names.filter(name => !table.columnOf(name).isAssigned)) {
      it(`detects a change of ${name}`, () => {
        fc.assert(
          fc.property(resources, values[name]!, (before, value) => {
            const after = withoutAbsent({ ...before, [name]: value }) as Resource;
            const old = before[name as keyof Resource];
            assert.equal(table.differ(before, after), old !== value);
          }),
        );
      });
    }

    it('detects no change between equal states', () => {
      fc.assert(fc.property(resources, resource => !table.differ(resource, structuredClone(resource))));
    });
  });
}

function withoutAbsent(resource: object): object {
  return Object.fromEntries(Object.entries(resource).filter(([, value]) => value !== undefined));
}

describeTable(Category, categoryTable);

describeTable(Pet, petTable);

describeTable(InventoryItem, stockTable);

describeTable(Order, orderTable);
