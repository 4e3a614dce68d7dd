import type { Queries } from '../../../db/database.ts';

/** The number of words in memory: some megabytes. */
const MAX_WORDS = 20_000;

/** The number of words that one query reads. */
const CHUNK = 100;

/**
 * Words that this process has seen in the committed dictionary. Only a restore of the database removes words from it, so a pet with such
 * a word needs no look-up.
 */
export class KnownWords {
  #known = new Set<string>();
  /** Words of new names. A transaction with such a word may still be running or rolled back. */
  readonly #seen = new Set<string>();

  has(word: string): boolean {
    if (this.#known.has(word)) return true;
    if (this.#seen.size < MAX_WORDS) this.#seen.add(word);
    return false;
  }

  /** Whether no name that this process stored has had the word. */
  isNew(word: string): boolean {
    return !this.#known.has(word) && !this.#seen.has(word);
  }

  /** Forgets all words. Call it when the database was returned to an earlier state, which may lack some of them. */
  forget(): void {
    this.#known = new Set();
  }

  /**
   * Reads some of the words that were not known, outside of any transaction, so that those it finds are committed. Resolves with
   * whether more remain.
   */
  async confirm(db: Queries): Promise<boolean> {
    const words = [...this.#seen.values().take(CHUNK)];
    if (words.length === 0) return false;
    for (const word of words) this.#seen.delete(word);
    // Rows that are read before `forget` are not added after it.
    const known = this.#known;
    const padded = Array.from({ length: CHUNK }, (_, i) => words[i] ?? '');
    const rows = await db.all<{ word: string }>(
      `SELECT word FROM words WHERE word IN (${padded.map(() => '?').join(', ')})`,
      padded,
    );
    if (known.size + rows.length > MAX_WORDS) known.clear();
    for (const { word } of rows) known.add(word);
    return this.#seen.size > 0;
  }
}
