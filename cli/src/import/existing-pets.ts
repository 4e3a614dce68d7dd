import type { CallOptions, PetStore } from '@petstore/client';

/** Finds the pets that exist, by name and category. Reads all pets of a category when the first of its rows is looked up. */
export class ExistingPets {
  readonly #store: Pick<PetStore, 'pets'>;
  readonly #calls: CallOptions;
  readonly #names = new Map<number, Set<string>>();

  constructor(store: Pick<PetStore, 'pets'>, calls: CallOptions) {
    this.#store = store;
    this.#calls = calls;
  }

  /** Whether a pet exists. From now on it counts as existing, so of two equal rows the second one exists. */
  async findOrAdd(name: string, categoryId: number): Promise<boolean> {
    const names = this.#names.get(categoryId) ?? (await this.#read(categoryId));
    this.#names.set(categoryId, names);
    const key = keyOf(name);
    const exists = names.has(key);
    names.add(key);
    return exists;
  }

  async #read(categoryId: number): Promise<Set<string>> {
    const names = new Set<string>();
    for await (const { name } of this.#store.pets.list({ categoryId, limit: 100 }, this.#calls))
      names.add(keyOf(name));
    return names;
  }
}

/** As the service stores names: without spaces around them, and composed. */
const keyOf = (name: string) => name.trim().normalize('NFC');
