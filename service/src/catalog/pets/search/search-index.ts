import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AfterCommit, Database, Queries, Transaction, Writer } from '../../../db/database.ts';
import { RESTORED } from '../../../db/notices.ts';
import { isOneOf } from '../../../db/select-page.ts';
import { SECOND } from '../../../kit/clock.ts';
import { Portions } from '../../../kit/turns.ts';
import { lockStock, type PetWithStock } from '../pet-queries.ts';
import { KnownWords } from './known-words.ts';
import {
  addPetWords,
  type IndexedName,
  pagesOfChange,
  removePetWords,
  replacePetWords,
} from './pet-words.ts';

/** The number of pets that one transaction looks at: as many as one condition on IDs can have. */
const PETS_AT_ONCE = 100;

/** The work in one turn of the event loop, in changed pages of the index. */
const WORK_AT_ONCE = 200;

/** The number of characters of a name whose words take as long to find as a page to change. */
const CHARACTERS_OF_A_PAGE = 20;

/** How long the client of a long write waits for the words at most, in milliseconds. The sweep stores the rest. */
const LONGEST_WAIT = 10 * SECOND;

export interface SearchIndexOptions {
  db: Queries & Writer & Pick<Database, 'onNotice'>;
  /** Called when the words of a long write could not be stored after its commit. The sweep stores them later. */
  onLate: (error: unknown) => void;
}

/** A pet whose stored words are not those of its name. A deleted pet has no name. */
interface Unindexed {
  readonly id: number;
  readonly before: string | null;
  readonly after: string | null;
}

/** The words that search finds pets by, as far as the transactions of the pets do not store them. */
export class SearchIndex {
  readonly known = new KnownWords();
  readonly #options: SearchIndexOptions;

  constructor(options: SearchIndexOptions) {
    this.#options = options;
  }

  /** From now on, forgets the known words when the database is returned to an earlier state. */
  start(): void {
    this.#options.db.onNotice(RESTORED, () => this.known.forget());
  }

  /**
   * Indexes one slice of the pets whose words an interrupted long write has not stored, and learns known words. Resolves with whether
   * more may remain.
   */
  async sweep(): Promise<boolean> {
    const { db } = this.#options;
    const rows = await db.all<{ id: number }>(FIND_UNINDEXED, [PETS_AT_ONCE]);
    if (rows.length === 0) return this.known.confirm(db);
    const ids = rows.map(({ id }) => id);
    const done = await this.#store(ids);
    return done < ids.length || ids.length === PETS_AT_ONCE || this.known.confirm(db);
  }

  /** Stores the words of pets after the commit. */
  readonly storeLater: AfterCommit = async ids => {
    const { onLate } = this.#options;
    const end = performance.now() + LONGEST_WAIT;
    try {
      for (let done = 0; done < ids.length && performance.now() < end; ) {
        const some = ids.slice(done, done + PETS_AT_ONCE);
        done += await this.#store(some);
      }
    } catch (error) {
      onLate(error);
    }
  };

  /** Stores the words of the first of some pets in a long write. Resolves with the number of IDs for which nothing is left to do. */
  #store(ids: readonly number[]): Promise<number> {
    const { db } = this.#options;
    return db.write(tx => this.#index(tx, ids), { alone: true });
  }

  async #index(tx: Transaction, ids: readonly number[]): Promise<number> {
    await lockStock(tx, ...ids);
    const changes = await unindexedAmong(tx, ids);
    const work = new Portions(WORK_AT_ONCE, nextTurn);
    const indexed: number[] = [];
    const added: (IndexedName & { pages: number })[] = [];
    for (const { id, before, after } of changes) {
      await work.take(((before ?? '').length + (after ?? '').length) / CHARACTERS_OF_A_PAGE);
      const pages = pagesOfChange(before, after, this.known);
      if (!tx.hasRoomFor(() => pages) && indexed.length > 0) break;
      indexed.push(id);
      if (before === after) continue;
      if (after !== null) added.push({ id, name: after, pages });
      if (before === null) continue;
      await work.take(pages);
      removePetWords(tx, { id, name: before });
    }
    for (const pet of added) {
      await work.take(pet.pages + pet.name.length / CHARACTERS_OF_A_PAGE);
      await addPetWords(tx, [pet], this.known);
    }
    if (indexed.length > 0) {
      const [condition, values] = isOneOf('pet_id', indexed);
      tx.send(`DELETE FROM pets_to_index WHERE ${condition}`, values);
    }
    const next = changes[indexed.length];
    return next ? ids.indexOf(next.id) : ids.length;
  }
}

const FIND_UNINDEXED = 'SELECT pet_id AS id FROM pets_to_index ORDER BY pet_id LIMIT ?';

/** Returns those of some pets, in the order of the IDs, whose words are not stored. */
async function unindexedAmong(tx: Transaction, ids: readonly number[]): Promise<Unindexed[]> {
  const [condition, values] = isOneOf('pet_id', ids);
  const rows = await tx.all<Unindexed>(
    `SELECT pet_id AS id, indexed_name AS before, name_key AS after
     FROM pets_to_index LEFT JOIN pets ON pets.id = pet_id WHERE ${condition}`,
    values,
  );
  const pets = new Map(rows.map(pet => [pet.id, pet]));
  return ids.flatMap(id => pets.get(id) ?? []);
}

/**
 * Replaces the words of a pet with those of another folded name; a new pet is `null` before, and a deleted one has no name after. With an
 * `index`, a long write leaves them to it when it has no more room. Call it in the transaction that changes the name.
 */
export async function setPetWords(
  tx: Transaction,
  petId: number,
  pet: Pick<PetWithStock, 'nameKey' | 'hasOldWords'> | null,
  after: string | null,
  index?: SearchIndex,
): Promise<void> {
  const before = pet?.nameKey ?? null;
  if (before === after) return;
  const left = pet?.hasOldWords ? await tx.get<Pick<Unindexed, 'before'>>(TAKE_LEFT, [petId]) : undefined;
  const indexed = left ? left.before : before;
  if (!index || tx.hasRoomFor(() => pagesOfChange(indexed, after, index.known))) {
    await replacePetWords(tx, petId, indexed, after, index?.known);
    return;
  }
  tx.insertLater('pets_to_index (pet_id, indexed_name)', [[petId, indexed]]);
  tx.afterCommit(index.storeLater, petId);
}

const TAKE_LEFT = 'DELETE FROM pets_to_index WHERE pet_id = ? RETURNING indexed_name AS before';
