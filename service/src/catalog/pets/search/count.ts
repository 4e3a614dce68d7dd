import type { Queries } from '../../../db/database.ts';
import { countSql, type Statement } from '../../../db/range-sql.ts';
import { rangesOf, type Values } from '../../../db/select-page.ts';
import { prefixEnd } from '../../../kit/text.ts';
import { nextTurn } from '../../../kit/turns.ts';
import { petList } from '../pet-queries.ts';
import { namesBetween, START } from './lists.ts';

/** The number of rows that one statement reads: some milliseconds. */
const MAX_ROWS = 20_000;

/**
 * Counts the pets whose names have a word that starts with this one, or one of the words that `nearOf` finds, up to `limit`. It looks at
 * no name. Resolves with `undefined` when that would take too long: with filters, which the index of words does not have, and with too
 * many rows of the same pets.
 */
export async function countOfWord(
  db: Queries,
  word: string,
  { filters, limit, nearOf }: { filters: Values; limit: number; nearOf: () => Promise<readonly string[]> },
): Promise<number | undefined> {
  const end = prefixEnd(word)!;
  // Each name that starts with the text of the word has the word, or a longer one, at its start.
  const named = await countNames(db, word, end, filters, limit);
  if (named >= limit) return limit;
  if (Object.keys(filters).length > 0) return undefined;
  const others = new Set<number>();
  const isComplete = async ([sql, values]: Statement) => {
    await nextTurn();
    const rows = await db.all<{ id: number; is_named: boolean | number }>(
      `SELECT id, name_key >= ? AND name_key < ? AS is_named FROM (${sql}) AS part`,
      [word, end, ...values],
      'index order',
    );
    for (const { id, is_named } of rows) if (!is_named) others.add(id);
    return named + others.size >= limit || rows.length < MAX_ROWS;
  };
  if (!(await isComplete(stored('word >= ? AND word < ?', word, end)))) return undefined;
  for (const near of named + others.size < limit ? await nearOf() : []) {
    if (named + others.size >= limit) break;
    const names = namesBetween(db, near, `${near}!`).next(START, MAX_ROWS);
    if (!(await isComplete(names)) || !(await isComplete(stored('word = ?', near)))) return undefined;
  }
  return Math.min(named + others.size, limit);
}

function stored(condition: string, ...words: string[]): Statement {
  return [
    `SELECT name_key, pet_id AS id FROM pet_words WHERE ${condition} ORDER BY word, name_key, pet_id LIMIT ?`,
    [...words, MAX_ROWS],
  ];
}

async function countNames(
  db: Queries,
  from: string,
  to: string,
  filters: Values,
  limit: number,
): Promise<number> {
  const ranges = { ...rangesOf(petList, filters, ['name_key', 'id']), descending: false, from, to, limit };
  const rows = await db.all<{ total: number }>(...countSql(db.engine, 'pets', ranges), 'index order');
  return Number(rows[0]!.total);
}
