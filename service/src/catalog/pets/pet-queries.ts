import { idsToFind, idToFind, nameText } from '../../contract/schema.ts';
import { assignedId, integer, text } from '../../db/columns.ts';
import type { LockedRows, Row, Transaction } from '../../db/database.ts';
import { defineList } from '../../db/define-list.ts';
import { type Insert, insertInto, type Update } from '../../db/insert.ts';
import { anyOf, is, oneOf, type QueryOf, search, startsWith } from '../../db/list.ts';
import { isOneOf } from '../../db/select-page.ts';
import { type New, Table } from '../../db/table.ts';
import { MAX_SEARCH_WORDS } from '../../kit/words.ts';
import { type Pet, petStatuses, petTable } from './pet.ts';
import type { Stock } from './stock.ts';

/** The stock of a pet is a column of the pet's row, and both have one status. */
export const stockTable = new Table<Stock>('pets', {
  petId: assignedId,
  quantity: integer('quantity'),
  status: text('status'),
});

/** A pet with everything that the rules of stock need. */
export interface PetWithStock {
  pet: Pet;
  stock: Stock;
  hasOpenOrders: boolean;
  /** The name in its folded form, as it is stored. */
  nameKey: string;
  /** Whether the stored words may be those of an earlier name: a long write leaves some for after its commit. */
  hasOldWords: boolean;
}

/** The lock of a pet and its stock. */
export function lockOfPet(petId: number): string {
  return `${PETS_TO_CHANGE.lock} ${petId}`;
}

/** Locks the stock of pets until the transaction ends. */
export function lockStock(tx: Transaction, ...petIds: readonly number[]): Promise<void> {
  return tx.lock(...petIds.map(lockOfPet));
}

const PETS_TO_CHANGE: LockedRows = {
  lock: 'pet',
  changedBy: /^(INSERT INTO|UPDATE|DELETE FROM) orders\b/,
};

/** Reads a pet and locks its stock until the transaction ends. */
export async function selectPetToChange(tx: Transaction, petId: number): Promise<PetWithStock | undefined> {
  // Other transactions do not see the pet, and its orders would have been sent after it.
  const held = tx.heldRow('pets', petId);
  if (held) return petWithStock({ ...held, has_open_orders: 0, has_old_words: 1 });
  const row = await tx.lockedRow(PETS_TO_CHANGE, petId, async ids => {
    const [condition, values] = isOneOf('id', ids);
    const [, rows] = await Promise.all([
      lockStock(tx, petId),
      tx.all<Row>(
        `SELECT ${petTable.columns}, name_key, quantity,
           CASE WHEN EXISTS (SELECT 1 FROM orders WHERE open_pet_id = pets.id) THEN 1 ELSE 0 END AS has_open_orders,
           CASE WHEN EXISTS (SELECT 1 FROM pets_to_index WHERE pet_id = pets.id) THEN 1 ELSE 0 END AS has_old_words
         FROM pets WHERE ${condition}`,
        values,
      ),
    ]);
    return rows;
  });
  return row && petWithStock(row);
}

function petWithStock(row: Row): PetWithStock {
  return {
    pet: petTable.toResource(row),
    stock: stockTable.toResource(row),
    hasOpenOrders: row.has_open_orders === 1,
    nameKey: row.name_key as string,
    hasOldWords: row.has_old_words === 1,
  };
}

const INSERT: Insert = {
  ...insertInto('pets', [...petTable.written, 'quantity'], { column: 'category_id', table: 'categories' }),
  canWait: true,
};

/** Resolves with `undefined` when the category does not exist. The caller stores the words of the name. */
export async function insertPet(tx: Transaction, pet: New<Pet>, quantity: number): Promise<Pet | undefined> {
  const id = await tx.insert(INSERT, [...petTable.valuesOf(pet), quantity]);
  return id === undefined ? undefined : petTable.storedAs(id, pet);
}

const UPDATE: Update = {
  table: 'pets',
  columns: [...petTable.written, 'quantity'],
  sql: `UPDATE pets SET ${petTable.assignments}, quantity = ? WHERE id = ?`,
};

/** Resolves with `undefined` when the new category does not exist. The caller stores the words of the name. */
export async function updatePet(
  tx: Transaction,
  before: Pet,
  pet: New<Pet>,
  quantity: number,
): Promise<Pet | undefined> {
  const { id } = before;
  const values = [...petTable.valuesOf(pet), quantity];
  if (pet.categoryId !== before.categoryId) {
    const row = await tx.get<Row>(
      `${UPDATE.sql} AND EXISTS (SELECT 1 FROM categories WHERE id = ?) RETURNING ${petTable.columns}`,
      [...values, id, pet.categoryId],
    );
    return row && petTable.toResource(row);
  }
  tx.update(UPDATE, id, values);
  return petTable.storedAs(id, pet);
}

export const petList = defineList(petTable, {
  filters: {
    q: search('name', {
      ...nameText,
      example: 'ecl',
      description:
        `Pets whose names have all of these words, in any order; at most ${MAX_SEARCH_WORDS}. A word also finds longer words that ` +
        'start with it, without regard to case and accents: `ecl` finds `Éclair`. Words from 5 letters find words with one ' +
        'typing error, and words from 9 letters with two. Exact matches come first, then longer words, then matches with ' +
        'errors; each by name.',
    }),
    id: oneOf('id', {
      ...idsToFind,
      description:
        'Pets with one of these IDs. Repeat the parameter for each ID, or separate them by commas.',
    }),
    status: anyOf('status', {
      ...petStatuses,
      description:
        'Pets with one of these statuses. Repeat the parameter for each status, or separate them by commas.',
    }),
    categoryId: is('categoryId', { ...idToFind, description: 'Pets of this category.' }),
    name: startsWith('name', {
      ...nameText,
      example: 'bis',
      description: 'Pets whose name starts with this text, without regard to case.',
    }),
  },
  sorts: { id: ['id'], name: ['name', 'id'] },
  defaultSort: 'id',
});

export type PetQuery = QueryOf<typeof petList>;
