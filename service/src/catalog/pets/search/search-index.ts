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
  /** Called when a sweep starts to index more than a slice of pets, and when all are indexed. */
  onIndexing: (state: 'started' | 'finished') => void;
  /** Called when the words of a long write could not be stored after its commit. The sweep stores them later. */
  onLate: (error: unknown) => void;
}

/** A pet whose stored words are not those of its name. A deleted pet has no name. */
interface Unindexed {
  readonly id: number;
  readonly before: string | null;
  readonly after: string | null;
}

/** The words that search finds pets by, as far as the transactions of the pets have not stored them. */
export class SearchIndex {
  readonly known = new KnownWords();
  readonly #options: SearchIndexOptions;
  #isIndexing = false;

  constructor(options: SearchIndexOptions) {
    this.#options = options;
  }

  /**
   * Returns what stores the words of a pet after the commit, if the transaction changes its folded name but has no room for the words;
   * otherwise `undefined`.
   */
  later(tx: Transaction, before: string | null, after: string | null): AfterCommit | undefined {
    return tx.hasRoomFor(() => pagesOfChange(before, after, this.known)) ? undefined : this.#storeLater;
  }

  /**
   * Indexes one slice of the pets whose words are not stored: those from before search, those that a replica of an earlier version
   * created, renamed or deleted, and those of a long write that was interrupted. One replica at a time does so. Resolves with whether
   * more may remain.
   */
  async sweep(): Promise<boolean> {
    const { db, onIndexing } = this.#options;
    const isMore = await db.write(async tx => {
      if (!(await tx.tryLock('search words'))) return false;
      const found = (
        await Promise.all(FIND_UNINDEXED.map(sql => tx.all<{ id: number }>(sql, [PETS_AT_ONCE])))
      )
        .flat()
        .map(({ id }) => id)
        .slice(0, PETS_AT_ONCE);
      return (await this.#index(tx, found)) < found.length || found.length === PETS_AT_ONCE;
    });
    if (isMore !== this.#isIndexing) onIndexing(isMore ? 'started' : 'finished');
    this.#isIndexing = isMore;
    return isMore || this.known.confirm(db);
  }

  readonly #storeLater: AfterCommit = async ids => {
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
    if (ids.length === 0) return 0;
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
      const [condition, values] = isOneOf('id', indexed);
      tx.send(`UPDATE pets SET indexed_name = name_key WHERE ${condition}`, values);
      tx.send(`DELETE FROM deleted_names WHERE ${condition}`, values);
    }
    const next = changes[indexed.length];
    return next ? ids.indexOf(next.id) : ids.length;
  }
}

const FIND_UNINDEXED = [
  'SELECT id FROM deleted_names ORDER BY id LIMIT ?',
  'SELECT id FROM pets WHERE indexed_name IS NULL OR indexed_name <> name_key ORDER BY id LIMIT ?',
];

/** Returns those of some pets, in the order of the IDs, whose words are not stored. */
async function unindexedAmong(tx: Transaction, ids: readonly number[]): Promise<Unindexed[]> {
  const [condition, values] = isOneOf('id', ids);
  const [deleted, changed] = await Promise.all([
    tx.all<Unindexed>(
      `SELECT id, name AS before, NULL AS after FROM deleted_names WHERE ${condition}`,
      values,
    ),
    tx.all<Unindexed>(
      `SELECT id, indexed_name AS before, name_key AS after FROM pets
       WHERE ${condition} AND (indexed_name IS NULL OR indexed_name <> name_key)`,
      values,
    ),
  ]);
  const pets = new Map([...deleted, ...changed].map(pet => [pet.id, pet]));
  return ids.flatMap(id => pets.get(id) ?? []);
}
