import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assignedId, type Column, foldedText, text } from './columns.ts';
import { Table } from './table.ts';

/** A table with a second text. test/db/tables.test.ts has those of the shop. */
function kennelsWith(label: Column<string>) {
  const columns = { id: assignedId, name: foldedText('name', 'name_key'), label };
  return new Table<{ id: number; name: string; label: string }>('kennels', columns);
}

describe('a table', () => {
  it('is rejected when two properties have the same column', () => {
    assert.throws(() => kennelsWith(text('name')), /^Error: kennels has two properties in the column name$/);
    assert.throws(() => kennelsWith(text('name_key')), /two properties in the column name_key$/);
    assert.throws(() => kennelsWith(text('id')), /two properties in the column id$/);
  });

  it('has no column for an undeclared property', () => {
    const kennels = kennelsWith(text('label'));
    assert.throws(() => kennels.columnOf('colour'), /^Error: kennels has no column for colour$/);
  });
});
