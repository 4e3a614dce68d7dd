import { patchOf } from '../../contract/patch.ts';
import { id, nameText, pageLimit } from '../../contract/schema.ts';
import { shape } from '../../contract/shape.ts';
import type { Static, StaticStored } from '../../contract/static.ts';
import { assignedId, foldedText, integer, text } from '../../db/columns.ts';
import { Table } from '../../db/table.ts';

export const PetStatus = {
  title: 'PetStatus',
  type: 'string',
  enum: ['available', 'pending', 'sold'],
  description: 'Whether the animal can be ordered, is on hold, or is sold.',
  example: 'available',
} as const;

/** A filter by one or several statuses. */
export const petStatuses = {
  type: 'array',
  items: PetStatus,
  minItems: 1,
  maxItems: PetStatus.enum.length,
} as const;

const fields = {
  id: { ...id, readOnly: true, description: 'Unique identifier assigned on creation.' },
  name: { ...nameText, description: "The animal's name." },
  categoryId: { ...id, description: 'ID of the category the animal belongs to.' },
  status: PetStatus,
} as const;

/** The body of POST and PUT. It may have the `id`, so that clients can send back a pet that they have read. */
export const NewPet = shape({
  title: 'NewPet',
  properties: fields,
  optional: ['id', 'status'],
  example: { name: 'Biscuit', categoryId: 1, status: 'available' },
});

export const Pet = {
  ...shape({
    title: 'Pet',
    properties: fields,
    optional: ['status'],
    example: { id: 1, name: 'Biscuit', categoryId: 1, status: 'available' },
  }),
  alwaysPresent: ['status'],
} as const;

export const Pets = {
  title: 'Pets',
  type: 'array',
  items: Pet,
  maxItems: pageLimit.maximum,
  example: [Pet.example],
} as const;

export const PetPatch = patchOf(Pet, [], { status: 'pending' });

export type PetStatus = Static<typeof PetStatus>;
export type NewPet = Static<typeof NewPet>;
export type Pet = StaticStored<typeof Pet>;

export const categoryIdColumn = integer('category_id');

export const petTable = new Table<Pet>('pets', {
  id: assignedId,
  name: foldedText('name', 'name_key'),
  categoryId: categoryIdColumn,
  status: text('status'),
});
