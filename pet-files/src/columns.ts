import type { Pet } from '@petstore/client';
import { plainText } from './plain-text.ts';

/**
 * The columns of files with pets, in an order for people, and other names that they have in files: in English, German, French and
 * Spanish, without accents. The compiler rejects the table when it lacks a field of a pet.
 */
const columns = {
  // The service assigns it: it is exported, but not imported.
  id: undefined,
  name: [
    ...['petname', 'pet', 'animal', 'animalname'],
    ...['tiername', 'tier', 'bezeichnung'],
    ...['nom', 'nomdelanimal', 'designation'],
    ...['nombre', 'nombredelanimal', 'mascota'],
  ],
  // The name of the category comes before its ID, because IDs differ between shops.
  category: [
    ...['categoryname', 'kind', 'species', 'type'],
    ...['kategorie', 'tierart', 'art', 'gattung'],
    ...['categorie', 'espece'],
    ...['categoria', 'especie', 'tipo'],
  ],
  categoryId: ['kategorieid', 'kategorienummer', 'idcategorie', 'idcategoria'],
  status: ['state', 'zustand', 'statut', 'etat', 'estado'],
  quantity: [
    ...['stock', 'units', 'amount', 'qty'],
    ...['menge', 'anzahl', 'bestand', 'lagerbestand', 'stuck', 'stuckzahl'],
    ...['quantite', 'nombre', 'unites'],
    ...['cantidad', 'existencias', 'unidades'],
  ],
} as const satisfies Record<keyof Pet | 'category' | 'quantity', readonly string[] | undefined>;

type Column = keyof typeof columns;

/** A column that is imported. */
export type Field = Exclude<Column, 'id'>;

export const exportedColumns = Object.keys(columns) as readonly Column[];

export const fields = exportedColumns.filter((column): column is Field => column !== 'id');

/** The columns that a file of rejected rows has in addition. */
export const addedColumns = ['line', 'code', 'message'] as const;

export const isAddedColumn = (name: string | undefined): boolean =>
  addedColumns.some(added => added === name);

/** Returns how many columns of a file another file of rejected rows replaces: those at its start that an earlier import has added. */
export const replacedColumns = (header: readonly string[]): number =>
  addedColumns.every((added, i) => header[i] === added) ? addedColumns.length : 0;

/** Returns why a column cannot be imported as a field. A file of rejected rows would have the reasons instead of its cells. */
export function addedColumnProblem(name: string): string {
  return `A file of rejected rows has a column ${JSON.stringify(name)} of its own: give the column another name in the file`;
}

const ignored: readonly string[] = ['id', ...addedColumns];

/**
 * Returns the field that a column has by its name, '' if the column is not imported, and `undefined` if the name is not known.
 * Case, accents, spaces and punctuation make no difference.
 */
export function fieldOf(name: string): Field | '' | undefined {
  const key = plain(name);
  if (ignored.includes(key)) return '';
  return fields.find(field => plain(field) === key);
}

/**
 * Returns the field that each column of a file probably has, and '' for the others. A field is used once. A name that means two
 * fields, such as "nombre" (a name in Spanish, a number in French), gets the one that no other column has.
 */
export function guessedFieldsOf(header: readonly string[]): (Field | '')[] {
  const possible = header.map(possibleFieldsOf);
  const clear = new Set(possible.filter(({ length }) => length === 1).map(([field]) => field));
  const used = new Set<Field>();
  return possible.map(found => {
    const free = found.filter(field => !used.has(field));
    const field = free.find(field => found.length === 1 || !clear.has(field));
    if (field) used.add(field);
    return field ?? '';
  });
}

function possibleFieldsOf(name: string): readonly Field[] {
  const field = fieldOf(name);
  if (field !== undefined) return field === '' ? [] : [field];
  const key = plain(name);
  return fields.filter(field => columns[field].some(other => other === key));
}

/** Removes what makes no difference between names: case, accents, spaces and punctuation. */
const plain = (name: string) => plainText(name).replace(/[\s_'’./()-]/g, '');
