import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  assignedId,
  boolean,
  type Column,
  foldedText,
  instant,
  integer,
  nullable,
  optional,
  text,
} from './columns.ts';
import { Table } from './table.ts';

interface Kennel {
  id: number;
  name: string;
  places?: number;
  openedAt: string | null;
  heated: boolean;
}

const kennels = new Table<Kennel>('kennels', {
  id: assignedId,
  name: foldedText('name', 'name_key'),
  places: optional(integer('places')),
  openedAt: nullable(instant('opened_at')),
  heated: boolean('is_heated'),
});

describe('a table', () => {
  it('is rejected when two properties have the same column', () => {
    type Kennel = { id: number; name: string; label: string };
    const twice = (label: Column<string>) =>
      new Table<Kennel>('kennels', { id: assignedId, name: foldedText('name', 'name_key'), label });
    assert.throws(() => twice(text('name')), /^Error: kennels has two properties in the column name$/);
    assert.throws(() => twice(text('name_key')), /two properties in the column name_key$/);
    assert.throws(() => twice(text('id')), /two properties in the column id$/);
    twice(text('label'));
  });

  it('has no column for an undeclared property', () => {
    assert.throws(() => kennels.columnOf('colour'), /^Error: kennels has no column for colour$/);
  });
});
