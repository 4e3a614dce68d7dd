import type { CallOptions, PetStore } from '@petstore/client';
import { categoryKeyOf } from './category-names.ts';

/** Finds the pets that exist, by name and category. Reads all pets of a category when the first of its rows is looked up. */
export class ExistingPets {
  readonly #store: Pick<PetStore, 'pets'>;
  readonly #calls: CallOptions;
  readonly #names = new Map<number, Promise<ReadonlySet<string>>>();

  constructor(store: Pick<PetStore, 'pets'>, calls: CallOptions) {
    this.#store = store;
    this.#calls = calls;
  }

  /** Whether a category has a pet with a name. */
  async has(name: string, categoryId: number): Promise<boolean> {
    let names = this.#names.get(categoryId);
    if (!names) {
      names = this.#read(categoryId);
      this.#names.set(categoryId, names);
      // The next look-up tries again.
      names.catch(() => this.#names.delete(categoryId));
    }
    return (await names).has(keyOf(name));
  }

  async #read(categoryId: number): Promise<ReadonlySet<string>> {
    const names = new Set<string>();
    for await (const { name } of this.#store.pets.list({ categoryId, limit: 1_000 }, this.#calls))
      names.add(keyOf(name));
    return names;
  }
}

/** The pets that exist while the rows of a file are read, which includes those of earlier rows. */
export class RowNames {
  readonly #existing: ExistingPets;
  readonly #rows = new Map<number | string, Set<string>>();

  constructor(existing: ExistingPets) {
    this.#existing = existing;
  }

  /**
   * Whether a pet exists. From now on it counts as existing, so of two equal rows the second one exists. `category` is the ID of a
   * category, or the name of one that the import creates.
   */
  async findOrAdd(name: string, category: number | string): Promise<boolean> {
    const key = typeof category === 'number' ? category : categoryKeyOf(category);
    const names = this.#rows.get(key) ?? new Set();
    this.#rows.set(key, names);
    const exists =
      names.has(keyOf(name)) || (typeof category === 'number' && (await this.#existing.has(name, category)));
    names.add(keyOf(name));
    return exists;
  }
}

/** As the service stores names: without spaces around them, and composed. */
const keyOf = (name: string) => name.trim().normalize('NFC');
