import { Category } from '../../../src/catalog/categories/category.ts';
import { patchOf } from '../../../src/contract/patch.ts';
import { assignedId, boolean, foldedText, integer, optional, text } from '../../../src/db/columns.ts';
import { Table } from '../../../src/db/table.ts';

const name = foldedText('name', 'name_key');
const description = optional(text('description'));

interface WingedCategory extends Category {
  wings?: string;
}

// These compile.
new Table<Category>('categories', { id: assignedId, name, description });
new Table<WingedCategory>('categories', {
  id: assignedId,
  name,
  description,
  wings: optional(text('wings')),
});
patchOf(Category, ['description'], { description: null });

// Rejected: Property 'wings' is missing
new Table<WingedCategory>('categories', { id: assignedId, name, description });
// Rejected: 'wings' does not exist in type 'ColumnsOf<
new Table<Category>('categories', { id: assignedId, name, description, wings: text('wings') });
// Rejected: Type 'boolean' is not assignable to type 'string'
new Table<Category>('categories', { id: assignedId, name: boolean('name'), description });
// Rejected: is not assignable to type 'Column<string | undefined>'
new Table<Category>('categories', { id: assignedId, name, description: integer('description') });
// Rejected: Type '"wings"' is not assignable
patchOf(Category, ['wings'], {});
