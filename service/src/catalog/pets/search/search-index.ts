import type { Queries, Transaction, Writer } from '../../../db/database.ts';
import { isOneOf } from '../../../db/select-page.ts';
import { lockStock } from '../pet-queries.ts';
import { KnownWords } from './known-words.ts';
import { addPetWords, type IndexedName, removePetWords } from './pet-words.ts';

/** The number of pets that a slice of the sweep indexes: as many as one condition on IDs can have. */
const SLICE = 100;

const TO_INDEX =
  'SELECT id FROM pets WHERE indexed_name IS NULL OR indexed_name <> name_key ORDER BY id LIMIT ?';

export interface SearchIndexOptions {
  db: Queries & Writer;
  /** Called when a sweep starts to index more than a slice of pets, and when all are indexed. */
  onIndexing: (state: 'started' | 'finished') => void;
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
   * Indexes one slice of the pets whose words are not stored: those from before search, and those that a replica of an earlier
   * version created, renamed or deleted. One replica at a time does so. Resolves with whether more may remain.
   */
  async sweep(): Promise<boolean> {
    const { db, onIndexing } = this.#options;
    const isMore = await db.write(async tx => {
      if (!(await tx.tryLock('search words'))) return false;
      const removed = await removeDeleted(tx);
      const indexed = await indexSome(tx);
      return removed === SLICE || indexed === SLICE;
    });
    if (isMore !== this.#isIndexing) onIndexing(isMore ? 'started' : 'finished');
    this.#isIndexing = isMore;
    return isMore || this.known.confirm(db);
  }
}

/** Removes the words of pets that an earlier version has deleted. Returns how many pets it found. */
async function removeDeleted(tx: Transaction): Promise<number> {
  const deleted = await tx.all<IndexedName>('SELECT id, name FROM deleted_names ORDER BY id LIMIT ?', [
    SLICE,
  ]);
  if (deleted.length === 0) return 0;
  for (const pet of deleted) removePetWords(tx, pet);
  const [condition, ids] = among(deleted);
  await tx.run(`DELETE FROM deleted_names WHERE ${condition}`, ids);
  return deleted.length;
}

/** Stores the words of some pets. Returns how many pets it found. */
async function indexSome(tx: Transaction): Promise<number> {
  const found = await tx.all<{ id: number }>(TO_INDEX, [SLICE]);
  if (found.length === 0) return 0;
  await lockStock(tx, ...found.map(({ id }) => id));
  const [condition, ids] = among(found);
  const pets = await tx.all<IndexedName & { before: string | null }>(
    `SELECT id, name_key AS name, indexed_name AS before FROM pets WHERE ${condition}`,
    ids,
  );
  const changed = pets.filter(({ name, before }) => name !== before);
  for (const { id, before } of changed) if (before !== null) removePetWords(tx, { id, name: before });
  await addPetWords(tx, changed);
  await tx.run(`UPDATE pets SET indexed_name = name_key WHERE ${condition}`, ids);
  return found.length;
}

function among(pets: readonly { id: number }[]) {
  return isOneOf(
    'id',
    pets.map(({ id }) => id),
  );
}
