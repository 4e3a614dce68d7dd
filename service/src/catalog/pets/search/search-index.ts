import type { AfterCommit, Queries, Transaction, Writer } from '../../../db/database.ts';
import { isOneOf } from '../../../db/select-page.ts';
import { SECOND } from '../../../kit/clock.ts';
import { lockStock } from '../pet-queries.ts';
import { KnownWords } from './known-words.ts';
import { pagesOfChange, replacePetWords } from './pet-words.ts';

/** The number of pets that one transaction looks at: as many as one condition on IDs can have. */
const PETS_AT_ONCE = 100;

/** The number of changed pages after which a transaction ends: its commit blocks the event loop of the embedded store. */
const PAGES_AT_ONCE = 400;

/** How long the client of a long write waits for the words at most, in milliseconds. The sweep stores the rest. */
const LONGEST_WAIT = 10 * SECOND;

export interface SearchIndexOptions {
  db: Queries & Writer;
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

  /**
   * Indexes one slice of the pets whose words an interrupted long write has not stored, and learns known words. Resolves with whether
   * more may remain.
   */
  async sweep(): Promise<boolean> {
    const { db } = this.#options;
    const rows = await db.all<{ id: number }>(FIND_UNINDEXED, [PETS_AT_ONCE]);
    if (rows.length === 0) return this.known.confirm(db);
    const ids = rows.map(({ id }) => id);
    const done = await db.write(tx => this.#index(tx, ids));
    return done < ids.length || ids.length === PETS_AT_ONCE || this.known.confirm(db);
  }

  /** Stores the words of pets after the commit. */
  readonly storeLater: AfterCommit = async ids => {
    const { db, onLate } = this.#options;
    const end = performance.now() + LONGEST_WAIT;
    try {
      for (let done = 0; done < ids.length && performance.now() < end; ) {
        const some = ids.slice(done, done + PETS_AT_ONCE);
        done += await db.write(tx => this.#index(tx, some));
      }
    } catch (error) {
      onLate(error);
    }
  };

  /** Stores the words of the first of some pets, as many as a transaction may. Returns for how many IDs nothing is left to do. */
  async #index(tx: Transaction, ids: readonly number[]): Promise<number> {
    await lockStock(tx, ...ids);
    const changes = await unindexedAmong(tx, ids);
    let pages = 0;
    const indexed: number[] = [];
    for (const { id, before, after } of changes) {
      if (pages >= PAGES_AT_ONCE) break;
      pages += pagesOfChange(before, after, this.known);
      await replacePetWords(tx, id, before, after, this.known);
      indexed.push(id);
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
 * Replaces the words of a pet's folded name with those of another; a new pet has no name before, and a deleted one none after. With an
 * `index`, a long write leaves them to it when it has no more room. Call it in the transaction that changes the name.
 */
export async function setPetWords(
  tx: Transaction,
  petId: number,
  before: string | null,
  after: string | null,
  index?: SearchIndex,
): Promise<void> {
  if (before === after) return;
  // An earlier change may have left the words of a name before that one.
  const left = before === null ? undefined : await tx.get<Pick<Unindexed, 'before'>>(TAKE_LEFT, [petId]);
  const indexed = left ? left.before : before;
  if (!index || tx.hasRoomFor(() => pagesOfChange(indexed, after, index.known))) {
    await replacePetWords(tx, petId, indexed, after, index?.known);
    return;
  }
  tx.insertLater('pets_to_index (pet_id, indexed_name)', [[petId, indexed]]);
  tx.afterCommit(index.storeLater, petId);
}

const TAKE_LEFT = 'DELETE FROM pets_to_index WHERE pet_id = ? RETURNING indexed_name AS before';
