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
import { one, type Transaction, type Value } from './database.ts';
import type { Insert } from './insert.ts';
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

const row = { id: 1, name: 'North', name_key: 'north', places: null, opened_at: 0, is_heated: 1 };

/** A store with the given row, or none, that records its queries. */
function storeOf(row: object | undefined): { db: Transaction; sent: unknown[] } {
  const sent: unknown[] = [];
  const get = async (...query: unknown[]) => {
    sent.push(...query);
    return row;
  };
  const insert = async ({ sqlite }: Insert, values: readonly Value[]) => {
    sent.push(sqlite, values);
    return 1;
  };
  return { db: { engine: 'sqlite', get, all: get, send: get, insert } as unknown as Transaction, sent };
}

describe('a table', () => {
  it('writes every column but the assigned one, and the folded form of a text', () => {
    const kennel = { name: 'STRAẞE', places: 3, openedAt: '1970-01-01T01:00:00+01:00', heated: false };
    assert.deepEqual(kennels.written, ['name', 'name_key', 'places', 'opened_at', 'is_heated']);
    assert.equal(kennels.assignments, 'name = ?, name_key = ?, places = ?, opened_at = ?, is_heated = ?');
    assert.deepEqual(kennels.valuesOf(kennel), ['STRAẞE', 'strasse', 3, 0, 0]);
  });

  it('stores an absent property and a null one as NULL', () => {
    assert.deepEqual(kennels.valuesOf({ name: 'x', openedAt: null, heated: true }).slice(2), [null, null, 1]);
  });

  it('returns no property for NULL when it is optional, and null when it is nullable', () => {
    assert.deepEqual(kennels.toResource({ ...row, opened_at: null }), {
      id: 1,
      name: 'North',
      openedAt: null,
      heated: true,
    });
  });

  it('sends each statement with the values of a resource', async () => {
    const { db, sent } = storeOf(row);
    const north = { id: 1, name: 'North', openedAt: '1970-01-01T00:00:00.000Z', heated: true };
    assert.deepEqual(await kennels.find(db, 1), north);
    assert.deepEqual(await kennels.insert(db, north), north);
    assert.deepEqual(await kennels.update(db, 1, north), north);
    kennels.sendDelete(db, 1);
    const columns = 'id, name, places, opened_at, is_heated';
    const values = ['North', 'north', null, 0, 1];
    assert.deepEqual(sent, [
      ...[`SELECT ${columns} FROM kennels WHERE id = ?`, [1]],
      ...[
        'INSERT INTO kennels (name, name_key, places, opened_at, is_heated) VALUES (?, ?, ?, ?, ?)',
        values,
        `UPDATE kennels SET ${kennels.assignments} WHERE id = ? RETURNING ${columns}`,
        [...values, 1],
      ],
      ...['DELETE FROM kennels WHERE id = ?', [1]],
    ]);
  });

  it('finds nothing without a row, and fails to update a missing row', async () => {
    const { db } = storeOf(undefined);
    assert.equal(await kennels.find(db, 1), undefined);
    await assert.rejects(
      kennels.update(db, 1, { name: 'x', openedAt: null, heated: true }),
      /^Error: A query that always has a row returned none: UPDATE kennels/,
    );
    await assert.rejects(one(db, 'SELECT 1'), /none: SELECT 1$/);
  });

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
