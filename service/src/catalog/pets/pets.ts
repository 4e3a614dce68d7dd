import { ApiError } from '../../contract/errors.ts';
import type { Queries, Writer } from '../../db/database.ts';
import { selectPage } from '../../db/select-page.ts';
import type { Page } from '../../kit/paging.ts';
import { foldCase } from '../../kit/text.ts';
import { type NewPet, type Pet, petTable } from './pet.ts';
import { appendPetChange, appendStockChange, petEvents } from './pet-events.ts';
import { insertPet, type PetQuery, petList, selectPetToChange, updatePet } from './pet-queries.ts';
import { type SearchIndex, setPetWords } from './search/search-index.ts';
import { initialQuantity, petHasOpenOrders, setStatus } from './stock.ts';

export function list(db: Queries, query: PetQuery): Promise<Page<Pet>> {
  return selectPage(db, petList, query);
}

export function read(db: Queries, petId: number): Promise<Pet> {
  return petTable.read(db, petId, petNotFound);
}

/** Creates a pet. With an `index`, long writes leave some words to it. */
export function create(db: Writer, pet: NewPet, index?: SearchIndex): Promise<Pet> {
  const { status = 'available' } = pet;
  return db.write(async tx => {
    const created = await insertPet(tx, { ...pet, status }, initialQuantity(status));
    if (!created) throw unknownCategory(pet.categoryId);
    await setPetWords(tx, created.id, null, foldCase(pet.name), index);
    petEvents.append(tx, 'pet.created', created.id, created);
    return created;
  });
}

/** Replaces a pet with the result of `change`. A `status` that is left out does not change. */
export function update(
  db: Writer,
  petId: number,
  change: (current: Pet) => NewPet,
  index?: SearchIndex,
): Promise<Pet> {
  return db.write(async tx => {
    const before = found(await selectPetToChange(tx, petId), petId);
    const pet = change(before.pet);
    const stock = setStatus(before.stock, pet.status ?? before.stock.status, before.hasOpenOrders);
    const after = await updatePet(tx, before.pet, { ...pet, status: stock.status }, stock.quantity);
    if (!after) throw unknownCategory(pet.categoryId);
    await setPetWords(tx, petId, before, foldCase(pet.name), index);
    appendPetChange(tx, before.pet, after);
    appendStockChange(tx, before.stock, stock, after.name);
    return after;
  });
}

export function remove(
  db: Writer,
  petId: number,
  guard: (current: Pet) => void,
  index?: SearchIndex,
): Promise<void> {
  return db.write(async tx => {
    const before = found(await selectPetToChange(tx, petId), petId);
    guard(before.pet);
    if (before.hasOpenOrders) throw petHasOpenOrders(petId);
    petTable.sendDelete(tx, petId);
    await setPetWords(tx, petId, before, null, index);
    petEvents.append(tx, 'pet.deleted', petId, before.pet);
  });
}

export function petNotFound(petId: number): ApiError {
  return new ApiError('pet_not_found', `There is no pet ${petId}`);
}

function found<T>(pet: T | undefined, petId: number): T {
  if (pet === undefined) throw petNotFound(petId);
  return pet;
}

function unknownCategory(categoryId: number): ApiError {
  return new ApiError(
    'unknown_category',
    `Field \`categoryId\` names category ${categoryId}, which does not exist`,
  );
}
