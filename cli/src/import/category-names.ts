import {
  type CallOptions,
  type Category,
  ConflictError,
  type PetStore,
  ValidationError,
} from '@petstore/client';
import { Rejection } from './pet-rules.ts';

/** Finds the IDs of categories. Reads all categories when the first name is looked for. */
export class CategoryNames {
  readonly #store: Pick<PetStore, 'categories'>;
  readonly #calls: CallOptions;
  readonly #creates: boolean;
  #ids: Map<string, number> | undefined;
  #known: Set<number> | undefined;

  constructor(store: Pick<PetStore, 'categories'>, calls: CallOptions, creates: boolean) {
    this.#store = store;
    this.#calls = calls;
    this.#creates = creates;
  }

  /** Returns the ID of a category, and creates it if that is wanted. Throws a `Rejection` if there is none. */
  async find(name: string): Promise<number> {
    const known = await this.#look(name);
    if (known !== undefined) return known;
    if (!this.#creates)
      throw new Rejection(
        'unknown_category',
        `There is no category ${JSON.stringify(name)}: correct the name, or use --create-categories`,
      );
    return this.#create(name);
  }

  /** Whether a category with the name or the ID exists. */
  async has(category: string | number): Promise<boolean> {
    if (typeof category === 'string') return (await this.#look(category)) !== undefined;
    this.#ids ??= await this.#read();
    this.#known ??= new Set(this.#ids.values());
    return this.#known.has(category);
  }

  async #look(name: string): Promise<number | undefined> {
    this.#ids ??= await this.#read();
    return this.#ids.get(keyOf(name));
  }

  async #read(): Promise<Map<string, number>> {
    const ids = new Map<string, number>();
    for await (const { id, name } of this.#store.categories.list({ limit: 100 }, this.#calls))
      ids.set(keyOf(name), id);
    return ids;
  }

  async #create(name: string): Promise<number> {
    let category: Category;
    try {
      category = await this.#store.categories.create({ name: name.trim() }, this.#calls);
    } catch (error) {
      if (error instanceof ValidationError)
        throw new Rejection(error.code ?? 'invalid_request', error.message);
      if (!(error instanceof ConflictError)) throw error;
      // Another program created it meanwhile.
      this.#ids = await this.#read();
      const id = this.#ids.get(keyOf(name));
      if (id === undefined) throw error;
      return id;
    }
    this.#ids!.set(keyOf(name), category.id);
    return category.id;
  }
}

/** The form in which the service compares names: composed, and without regard to case. */
function keyOf(name: string): string {
  return name.trim().normalize('NFC').toLowerCase().replaceAll('ß', 'ss').replaceAll('ς', 'σ');
}
