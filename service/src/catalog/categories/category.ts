import { id, longText, nameText } from '../../contract/schema.ts';
import type { Static } from '../../contract/static.ts';

const fields = {
  name: { ...nameText, description: 'The category name, unique without regard to case.' },
  description: { ...longText, description: 'Short description of the category.' },
} as const;

export const NewCategory = {
  title: 'NewCategory',
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: fields,
  example: { name: 'Dogs', description: 'Puppies and grown dogs' },
} as const;

const allFields = {
  id: { ...id, readOnly: true, description: 'Unique identifier assigned on creation.' },
  ...fields,
} as const;

export const Category = {
  title: 'Category',
  type: 'object',
  required: ['id', 'name'],
  additionalProperties: false,
  properties: allFields,
  example: { id: 1, name: 'Dogs', description: 'Puppies and grown dogs' },
} as const;

/** What POST and PUT read: a NewCategory or a Category. */
export const CategoryBody = { ...NewCategory, properties: allFields } as const;

export const CategoryPatch = {
  title: 'CategoryPatch',
  type: 'object',
  additionalProperties: false,
  properties: { ...allFields, description: { ...fields.description, nullable: true } },
  example: { description: null },
} as const;

export type NewCategory = Static<typeof NewCategory>;
export type Category = Static<typeof Category>;
