import type { Pet } from '@petstore/client';

/**
 * The columns of files with pets, in an order for people, and other names that they have in files. The compiler rejects the table
 * when it lacks a field of a pet.
 */
const columns = {
  // The service assigns it: it is exported, but not imported.
  id: undefined,
  name: ['petname', 'pet', 'animal', 'animalname'],
  // The name of the category comes before its ID, because IDs differ between shops.
  category: ['categoryname', 'kind', 'species', 'type'],
  categoryId: [],
  status: ['state'],
  quantity: ['stock', 'units', 'amount', 'qty'],
} as const satisfies Record<keyof Pet | 'category' | 'quantity', readonly string[] | undefined>;

type Column = keyof typeof columns;

/** A column that is imported. */
export type Field = Exclude<Column, 'id'>;

export const exportedColumns = Object.keys(columns) as readonly Column[];

export const fields = exportedColumns.filter((column): column is Field => column !== 'id');

/** The columns that a file of rejected rows has in addition. */
export const addedColumns = ['line', 'code', 'message'] as const;

const ignored: readonly string[] = ['id', ...addedColumns];

/**
 * Returns the field that a column has by its name, '' if the column is not imported, and `undefined` if the name is not known.
 * Case, spaces, `_` and `-` make no difference.
 */
export function fieldOf(name: string): Field | '' | undefined {
  const key = plain(name);
  if (ignored.includes(key)) return '';
  return fields.find(field => plain(field) === key);
}

/** As `fieldOf`, but also knows other names that people use. */
export function guessedFieldOf(name: string): Field | '' | undefined {
  const key = plain(name);
  return fieldOf(name) ?? fields.find(field => columns[field].some(other => other === key));
}

const plain = (name: string) => name.toLowerCase().replace(/[\s_-]/g, '');
