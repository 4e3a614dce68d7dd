import type { SearchQuery } from '../../service/src/catalog/pets/search/search-pets.ts';
import { RARELY_TOGETHER, WORD_OF_LONGEST_NAMES } from './names.ts';

/** Searches of a filled store, by kind. */
export type Searches = Readonly<Record<string, Omit<SearchQuery, 'limit'>>>;

export const SEARCHES: Searches = {
  'one letter': { q: 's' },
  'a rare letter': { q: 'x' },
  'a common word': { q: 'golden' },
  'two common words': { q: 'golden retriever' },
  'errors in both words': { q: 'goldne retreiver' },
  'a common word of few pending pets': { q: 'golden', status: ['pending'] },
  'one letter in a small category': { q: 's', categoryId: 77 },
};

/** Searches that take longer, because the engine has to look at each pet with a word. */
export const LONG_SEARCHES: Searches = {
  'two common words that one pet has': { q: RARELY_TOGETHER.join(' ') },
  'four common words': { q: 'golden retriever shadow labrador' },
  'two letters': { q: 's z' },
  'one letter, counted': { q: 's', count: true },
  'a word of the longest names': { q: WORD_OF_LONGEST_NAMES },
  'a word of the longest names, counted': { q: WORD_OF_LONGEST_NAMES, count: true },
};
