import { Category } from '../../../src/catalog/categories/category.ts';
import { patchOf } from '../../../src/contract/patch.ts';
import { assignedId, boolean, foldedText, integer, optional, text } from '../../../src/db/columns.ts';
import { Table } from '../../../src/db/table.ts';

const name = foldedText('name', 'name_key');
const description = optional(text('description'));

interface ColouredCategory extends Category {
  colour?: string;
}

// These compile.
new Table<Category>('categories', { id: assignedId, name, description });
new Table<ColouredCategory>('categories', {
  id: assignedId,
  name,
  description,
  colour: optional(text('colour')),
});
patchOf(Category, ['description'], { description: null });

// Rejected: Property 'colour' is missing
new Table<ColouredCategory>('categories', { id: assignedId, name, description });
// Rejected: 'colour' does not exist in type 'ColumnsOf<
new Table<Category>('categories', { id: assignedId, name, description, colour: text('colour') });
// Rejected: Type 'boolean' is not assignable to type 'string'
new Table<Category>('categories', { id: assignedId, name: boolean('name'), description });
// Rejected: is not assignable to type 'Column<string | undefined>'
new Table<Category>('categories', { id: assignedId, name, description: integer('description') });
// Rejected: Type '"colour"' is not assignable
patchOf(Category, ['colour'], {});
