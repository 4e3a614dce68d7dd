import type { Database, Value } from '../../service/src/db/database.ts';
import { insertRows } from '../../service/src/db/insert-rows.ts';
import { canBeMistyped, storedWords, variantsOf, wordsOf } from '../../service/src/kit/words.ts';
import { numbersTo } from '../../service/test/support/numbers.ts';
import { LONGEST_NAME, namesOf } from './names.ts';

export const MANY_ROWS = 1_000_000;
export const FEW_ROWS = 1_000;
const CATEGORIES = 1_000;
const ROWS_AT_A_TIME = 20_000;
/** One of so many pets has the longest name: 3,003 of a million, and enough of a thousand that they fill a page of a list as well. */
const longestEvery = (pets: number) => (pets < 10_000 ? 20 : 333);

/** The category of 60 % of the pets, and those of the others. */
const [LARGE, SMALL, MIDDLE, TINY] = [1, 2, 3, 77];
/** When the first order was shipped. Each later order was shipped a millisecond later. */
const SHIPPED = Date.UTC(2026, 0, 1);

/**
 * Fills a new store with the most expensive distribution of data. 60 % of the pets are sold and in category 1, 39 % are available and
 * in category 3: both conditions of `categoryId=1&status=available` match many pets, but together they match none. The last 1 % are
 * pending and in category 2, and only their names start with `zz`. A thousandth of those that are available is in category 77.
 */
export async function fillShop(db: Database, pets: number): Promise<void> {
  const categories = Array.from({ length: CATEGORIES - 1 }, (_, i) => [`A category ${i}`, `a category ${i}`]);
  await insertAll(db, 'categories (name, name_key)', categories);
  const isPending = (i: number) => i >= pets * 0.99;
  const names = namesOf(pets).map((name, i) => {
    if (i % longestEvery(pets) === 7) return LONGEST_NAME;
    return isPending(i) ? `zz ${name}` : name;
  });
  await insertAll(
    db,
    'pets (name, name_key, category_id, status, quantity)',
    names.map((name, i) => {
      if (i < pets * 0.6) return [name, name, LARGE, 'sold', 0];
      if (isPending(i)) return [name, name, SMALL, 'pending', 1];
      return [name, name, i % 1000 === 0 ? TINY : MIDDLE, 'available', 5];
    }),
  );
  await fillWords(db, names);
  await db.run(
    `INSERT INTO orders (pet_id, quantity, ship_date, complete) ${numbersTo(pets)}
     SELECT CASE WHEN n > ${pets * 0.99} THEN NULL ELSE 1 + n % 2 END, 1,
       CASE WHEN n > ${pets * 0.99} THEN NULL ELSE ${SHIPPED} + n END, CASE WHEN n > ${pets * 0.99} THEN 0 ELSE 1 END FROM numbers`,
  );
}

/** Stores the words of pets whose IDs begin at 1, in the order of the index. */
async function fillWords(db: Database, names: readonly string[]): Promise<void> {
  const pets = new Map<string, [word: string, name: string, id: number][]>();
  const dictionary = new Set<string>();
  const order = names
    .map((name, i): [string, number] => [name, i + 1])
    .sort(([a], [b]) => Number(a > b) - Number(a < b));
  for (const [name, id] of order) {
    const words = wordsOf(name);
    for (const word of storedWords(name, words)) {
      const rows = pets.get(word) ?? [];
      if (rows.push([word, name, id]) === 1) pets.set(word, rows);
    }
    for (const word of words) if (canBeMistyped(word)) dictionary.add(word);
  }
  const words = [...dictionary].sort();
  const variants = words.flatMap(word => variantsOf(word).map(variant => [variant, word])).sort();
  await insertAll(
    db,
    'pet_words (word, name_key, pet_id)',
    [...pets.keys()].sort().flatMap(word => pets.get(word)!),
  );
  await insertAll(
    db,
    'words (word)',
    words.map(word => [word]),
  );
  await insertAll(db, 'word_variants (variant, word)', variants);
}

/** Inserts rows in transactions of a bounded size. */
export async function insertAll(db: Database, into: string, rows: readonly Value[][]): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_AT_A_TIME)
    await db.write(async tx => insertRows(tx, into, rows.slice(start, start + ROWS_AT_A_TIME)));
}
