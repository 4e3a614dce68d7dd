import { type SearchQuery, searchPets } from '../../service/src/catalog/pets/search/search-pets.ts';
import type { Database } from '../../service/src/db/database.ts';
import { type Finding, showSpread, spread } from '../harness/findings.ts';
import { verdictOf } from '../harness/targets.ts';
import { RARELY_TOGETHER, WORD_OF_LONGEST_NAMES } from './names.ts';
import { TimedQueries } from './timed-store.ts';

const REPETITIONS = 7;
/** The database time of a page, in milliseconds. */
const AT_MOST = 5;
/** Searches by kind. Those of the second group may take longer: the engine has to look at each pet with a word. */
export const SEARCHES: Record<string, Omit<SearchQuery, 'limit'>> = {
  'one letter': { q: 's' },
  'a rare letter': { q: 'x' },
  'a common word': { q: 'golden' },
  'two common words': { q: 'golden retriever' },
  'errors in both words': { q: 'goldne retreiver' },
  'a common word of few pending pets': { q: 'golden', status: ['pending'] },
  'one letter in a small category': { q: 's', categoryId: 77 },
};

export const LONG_SEARCHES: Record<string, Omit<SearchQuery, 'limit'>> = {
  'two common words that one pet has': { q: RARELY_TOGETHER.join(' ') },
  'four common words': { q: 'golden retriever shadow labrador' },
  'two letters': { q: 's z' },
  'one letter, counted': { q: 's', count: true },
  'a word of the longest names': { q: WORD_OF_LONGEST_NAMES },
  'a word of the longest names, counted': { q: WORD_OF_LONGEST_NAMES, count: true },
};

/** Measures how long a store with 1,000,000 pets works on each search. */
export async function measureSearches(engine: string, db: Database): Promise<Finding[]> {
  return [
    await searchFinding(`${engine}: database time of a search at 1,000,000 pets`, db, SEARCHES, AT_MOST),
    await searchFinding(`${engine}: database time of longer searches`, db, LONG_SEARCHES),
  ];
}

async function searchFinding(
  what: string,
  db: Database,
  searches: Record<string, SearchQuery>,
  most?: number,
): Promise<Finding> {
  const timed = new TimedQueries(db);
  const times = [];
  for (const [name, query] of Object.entries(searches)) {
    const all: number[] = [];
    while (all.length <= REPETITIONS) {
      await searchPets(timed, query);
      all.push(timed.takeTime());
    }
    // The first one prepares the statements.
    times.push({ name, ...spread(all.slice(1)) });
  }
  const worst = times.reduce((a, b) => (a.median > b.median ? a : b));
  const figures = times.map(({ name, median }) => `${name} ${median.toFixed(1)}`).join(', ');
  return {
    what: `${what} (worst: ${worst.name})`,
    target: most === undefined ? 'none' : `≤ ${most} ms`,
    measured: showSpread(worst, 1, ' ms'),
    absolute: `${figures} ms`,
    verdict: most === undefined ? undefined : verdictOf(worst.median <= most),
  };
}
