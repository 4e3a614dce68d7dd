import {
  type CallOptions,
  type Category,
  ConflictError,
  type PetStore,
  ValidationError,
} from '@petstore/client';
import { Rejection } from './pet-rules.ts';

/** Whether an import creates the categories that its file names, and how people can make it do so. */
export interface CategoryCreation {
  creates: boolean;
  /** As in `use --create-categories`. */
  howTo: string;
}

/** A category with the ETag of its creation. */
export interface CreatedCategory extends Category {
  etag: string | undefined;
}

/** Finds the categories of pets. Reads all categories when the first one is looked for. */
export class CategoryNames {
  readonly #store: Pick<PetStore, 'categories'>;
  readonly #calls: CallOptions;
  readonly #creation: CategoryCreation;
  #ids: Map<string, number> | undefined;
  #known: Set<number> | undefined;
  /** The categories that were created for a file. */
  readonly created: CreatedCategory[] = [];

  constructor(store: Pick<PetStore, 'categories'>, calls: CallOptions, creation: CategoryCreation) {
    this.#store = store;
    this.#calls = calls;
    this.#creation = creation;
  }

  /** Returns the ID of a category, and creates a name if that is wanted. Throws a `Rejection` if there is no such name. */
  async find(category: string | number): Promise<number> {
    const known = await this.known(category);
    if (known !== undefined) return known;
    if (!this.#creation.creates)
      throw new Rejection(
        'unknown_category',
        `There is no category ${JSON.stringify(category)}: correct the name, or ${this.#creation.howTo}`,
        'category',
      );
    return this.#create(String(category));
  }

  /** Throws a `Rejection` if `find` would not find or create a category, or if an ID does not exist. Creates nothing. */
  async check(category: string | number): Promise<void> {
    if (typeof category === 'string') {
      if (!this.#creation.creates) await this.find(category);
      return;
    }
    this.#ids ??= await this.#read();
    this.#known ??= new Set(this.#ids.values());
    if (!this.#known.has(category))
      throw new Rejection(
        'unknown_category',
        `There is no category with the ID ${category}: correct the ID`,
        'categoryId',
      );
  }

  /** Returns the ID of a category; `undefined` if no category has the name. */
  async known(category: string | number): Promise<number | undefined> {
    if (typeof category === 'number') return category;
    this.#ids ??= await this.#read();
    return this.#ids.get(categoryKeyOf(category));
  }

  async #read(): Promise<Map<string, number>> {
    const ids = new Map<string, number>();
    for await (const { id, name } of this.#store.categories.list({ limit: 1_000 }, this.#calls))
      ids.set(categoryKeyOf(name), id);
    return ids;
  }

  async #create(name: string): Promise<number> {
    let category: CreatedCategory;
    try {
      const call = this.#store.categories.create({ name: name.trim() }, this.#calls);
      const { data, etag } = await call.withResponse();
      category = { ...data, etag };
    } catch (error) {
      if (error instanceof ValidationError)
        throw new Rejection(error.code ?? 'invalid_request', error.message);
      if (!(error instanceof ConflictError)) throw error;
      // Another program created it meanwhile.
      this.#ids = await this.#read();
      const id = this.#ids.get(categoryKeyOf(name));
      if (id === undefined) throw error;
      return id;
    }
    this.created.push(category);
    this.#ids!.set(categoryKeyOf(name), category.id);
    return category.id;
  }
}

/** The form in which the service compares the names of categories: composed, and without regard to case. */
export function categoryKeyOf(name: string): string {
  return name.trim().toLowerCase().replaceAll('ß', 'ss').replaceAll('ς', 'σ').normalize('NFC');
}
