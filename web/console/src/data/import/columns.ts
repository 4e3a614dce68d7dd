import { addedColumnProblem, type Field, guessedFieldsOf, isAddedColumn } from '@petstore/pet-files';

/** The field of each column; '' if the column is left out. */
export type Mapping = readonly (Field | '')[];

/** Guesses the fields of columns. */
export const guessMapping: (header: readonly string[]) => Mapping = guessedFieldsOf;

/** Returns why a mapping cannot be imported, and what to do; `undefined` if it can be. */
export function problemOf(header: readonly string[], mapping: Mapping): string | undefined {
  const added = header.find((column, i) => mapping[i] && isAddedColumn(column));
  if (added) return addedColumnProblem(added);
  const twice = mapping.find((field, i) => field !== '' && mapping.indexOf(field) !== i);
  if (twice) return `Two columns are the field ${twice}: leave one out`;
  if (!mapping.includes('name')) return 'Choose the column with the names';
  if (!mapping.includes('category') && !mapping.includes('categoryId'))
    return 'Choose the column with the categories, or with their IDs';
  return undefined;
}
