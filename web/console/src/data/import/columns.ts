/** The fields of a row, and other names that their columns have in files. */
const names = {
  name: ['name', 'petname', 'pet', 'animal', 'animalname'],
  category: ['category', 'categoryname', 'kind', 'species', 'type'],
  categoryId: ['categoryid'],
  status: ['status', 'state'],
  quantity: ['quantity', 'stock', 'units', 'amount', 'qty'],
} as const;

export type Field = keyof typeof names;

export const fields = Object.keys(names) as readonly Field[];

/** The columns that a file of rejected rows has in addition. */
export const ownColumns = ['line', 'code', 'message'];

/** The field of each column; '' if the column is left out. */
export type Mapping = readonly (Field | '')[];

/** Guesses the fields of columns. A field is guessed once. Case, spaces, `_` and `-` make no difference. */
export function guessMapping(header: readonly string[]): Mapping {
  const used = new Set<Field>();
  return header.map(column => {
    const key = column.toLowerCase().replace(/[\s_-]/g, '');
    const field = fields.find(field => !used.has(field) && names[field].some(name => name === key));
    if (!field) return '';
    used.add(field);
    return field;
  });
}

/** Returns why a mapping cannot be imported, and what to do; `undefined` if it can be. */
export function problemOf(mapping: Mapping): string | undefined {
  const twice = mapping.find((field, i) => field !== '' && mapping.indexOf(field) !== i);
  if (twice) return `Two columns are the field ${twice}: leave one out`;
  if (!mapping.includes('name')) return 'Choose the column with the names';
  if (!mapping.includes('category') && !mapping.includes('categoryId'))
    return 'Choose the column with the categories, or with their IDs';
  return undefined;
}
