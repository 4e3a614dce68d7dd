import { ApiError } from '../../contract/errors.ts';
import type { Queries, Writer } from '../../db/database.ts';
import type { Listing } from '../../db/select-page.ts';
import { appendEvent } from '../../events/event-log/append.ts';
import { mapPage, type Page } from '../../kit/paging.ts';
import type { NewPet, Pet } from './pet.ts';
import { tellOfPet, tellOfStock } from './pet-events.ts';
import {
  deletePet,
  insertPet,
  type PetFilter,
  type PetRow,
  type PetSort,
  selectPet,
  selectPets,
  selectPetToChange,
  updatePet,
} from './pet-queries.ts';
import { initialQuantity, petHasOpenOrders, setStatus } from './stock.ts';

export async function list(db: Queries, filter: PetFilter, listing: Listing<PetSort>): Promise<Page<Pet>> {
  return mapPage(await selectPets(db, filter, listing), toPet);
}

export async function read(db: Queries, petId: number): Promise<Pet> {
  return toPet(found(await selectPet(db, petId), petId));
}

export function create(db: Writer, pet: NewPet): Promise<Pet> {
  const status = pet.status ?? 'available';
  return db.write(async tx => {
    const { name, categoryId } = pet;
    const id = await insertPet(tx, pet, status, initialQuantity(status));
    if (id === undefined) throw unknownCategory(categoryId);
    const created = { id, name, categoryId, status };
    appendEvent(tx, 'pet.created', id, created);
    return created;
  });
}

/** Replaces a pet by what `change` makes of it. A `status` left out stays as it is. */
export function update(db: Writer, petId: number, change: (current: Pet) => NewPet): Promise<Pet> {
  return db.write(async tx => {
    const row = found(await selectPetToChange(tx, petId), petId);
    const before = toPet(row);
    const pet = change(before);
    const { status, quantity, has_open_orders } = row;
    const stockBefore = { petId, status, quantity };
    const stock = setStatus(stockBefore, pet.status ?? status, has_open_orders === 1);
    const updated = await updatePet(tx, pet, stock);
    if (!updated) throw unknownCategory(pet.categoryId);
    const after = toPet(updated);
    tellOfPet(tx, before, after);
    tellOfStock(tx, stockBefore, stock);
    return after;
  });
}

export function remove(db: Writer, petId: number, guard: (current: Pet) => void): Promise<void> {
  return db.write(async tx => {
    const row = found(await selectPetToChange(tx, petId), petId);
    const pet = toPet(row);
    guard(pet);
    if (row.has_open_orders) throw petHasOpenOrders(petId);
    await deletePet(tx, petId);
    appendEvent(tx, 'pet.deleted', petId, pet);
  });
}

export function petNotFound(petId: number): ApiError {
  return new ApiError('pet_not_found', `There is no pet ${petId}`);
}

function found<Row extends PetRow>(row: Row | undefined, petId: number): Row {
  if (!row) throw petNotFound(petId);
  return row;
}

function unknownCategory(categoryId: number): ApiError {
  return new ApiError(
    'unknown_category',
    `\`categoryId\` names category ${categoryId}, which does not exist`,
  );
}

export function toPet({ id, name, category_id, status }: PetRow): Pet {
  return { id, name, categoryId: category_id, status };
}
