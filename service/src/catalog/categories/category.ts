import { patchOf } from '../../contract/patch.ts';
import { id, longText, nameText } from '../../contract/schema.ts';
import { shape } from '../../contract/shape.ts';
import type { Static } from '../../contract/static.ts';
import { assignedId, foldedText, optional, text } from '../../db/columns.ts';
import { Table } from '../../db/table.ts';
import { EventKind } from '../../events/event-log/event-kind.ts';

const fields = {
  id: { ...id, readOnly: true, description: 'Unique identifier assigned on creation.' },
  name: { ...nameText, description: 'The category name, unique without regard to case.' },
  description: { ...longText, description: 'Short description of the category.' },
} as const;

/** The body of POST and PUT. It may have the `id`, so that clients can send back a category that they have read. */
export const NewCategory = shape({
  title: 'NewCategory',
  properties: fields,
  optional: ['id', 'description'],
  example: { name: 'Dogs', description: 'Puppies and grown dogs' },
});

export const Category = shape({
  title: 'Category',
  properties: fields,
  optional: ['description'],
  example: { id: 1, name: 'Dogs', description: 'Puppies and grown dogs' },
});

export const CategoryPatch = patchOf(Category, ['description'], { description: null });

export type NewCategory = Static<typeof NewCategory>;
export type Category = Static<typeof Category>;

export const categoryTable = new Table<Category>('categories', {
  id: assignedId,
  name: foldedText('name', 'name_key'),
  description: optional(text('description')),
});

export const categoryEvents = new EventKind({
  title: 'CategoryEvent',
  types: ['category.created', 'category.updated', 'category.deleted'],
  data: Category,
});
