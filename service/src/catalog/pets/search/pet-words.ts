import type { Transaction } from '../../../db/database.ts';
import { insertRows, insertsOf } from '../../../db/insert-rows.ts';
import { isOneOf } from '../../../db/select-page.ts';
import { canBeMistyped, storedWords, variantsOf, wordsOf } from '../../../kit/words.ts';
import type { KnownWords } from './known-words.ts';

/** A pet with the folded name whose words are stored. */
export interface IndexedName {
  readonly id: number;
  readonly name: string;
}

/** About how many pages a new word of the dictionary changes: it has up to 22 variants, in short rows of which several share a page. */
const PAGES_OF_NEW_WORD = 8;

/** Returns about how many pages of the index change when the words of a folded name replace those of another. */
export function pagesOfChange(before: string | null, after: string | null, known: KnownWords): number {
  if (before === after) return 0;
  const removed = before === null ? 0 : storedWords(before).length;
  if (after === null) return removed;
  const words = wordsOf(after);
  const added = words.filter(word => canBeMistyped(word) && known.isNew(word));
  return removed + storedWords(after, words).length + added.length * PAGES_OF_NEW_WORD;
}

/** Stores the words of pets, and adds new ones to the dictionary. */
export async function addPetWords(
  tx: Transaction,
  pets: readonly IndexedName[],
  known?: KnownWords,
): Promise<void> {
  const rows: [word: string, name: string, id: number][] = [];
  const unknown = new Set<string>();
  for (const { id, name } of pets) {
    const words = wordsOf(name);
    for (const word of storedWords(name, words)) rows.push([word, name, id]);
    for (const word of words) if (canBeMistyped(word) && !known?.has(word)) unknown.add(word);
  }
  tx.insertLater('pet_words (word, name_key, pet_id)', rows);
  if (unknown.size > 0) await tx.atEnd(learnWords, [...unknown]);
}

/** Adds new words to the dictionary. They stay in it: a word without pets finds nothing. */
async function learnWords(tx: Transaction, words: readonly string[]): Promise<void> {
  const rows = words.map(word => [word]);
  for (const [insert, values] of insertsOf('words (word)', rows)) {
    const added = await tx.all<{ word: string }>(`${insert} ON CONFLICT DO NOTHING RETURNING word`, values);
    const variants = added.flatMap(({ word }) => variantsOf(word).map(variant => [variant, word]));
    insertRows(tx, 'word_variants (variant, word)', variants);
  }
}

/** The number of words that one statement removes: as many as one condition can have. */
const WORDS_AT_ONCE = 100;

/** Removes the words of a folded name. The pet must have no words, or other ones, before the transaction ends. */
export function removePetWords(tx: Transaction, { id, name }: IndexedName): void {
  const words = storedWords(name);
  for (let start = 0; start < words.length; start += WORDS_AT_ONCE) {
    const [condition, values] = isOneOf('word', words.slice(start, start + WORDS_AT_ONCE));
    tx.send(`DELETE FROM pet_words WHERE ${condition} AND name_key = ? AND pet_id = ?`, [
      ...values,
      name,
      id,
    ]);
  }
}

/** Replaces the words of a folded name that was stored, if any, with those of another. */
export async function replacePetWords(
  tx: Transaction,
  id: number,
  before: string | null,
  after: string | null,
  known?: KnownWords,
): Promise<void> {
  if (before === after) return;
  if (before !== null) removePetWords(tx, { id, name: before });
  if (after !== null) await addPetWords(tx, [{ id, name: after }], known);
}
