// @ts-check
/**
 * Finds pages for the words of a developer. It has no access to the page that shows the results.
 *
 * @typedef {import('./types.d.ts').Entry} Entry
 * @typedef {import('./types.d.ts').Found} Found
 */
import MiniSearch from 'minisearch';
import { stemmer } from 'stemmer';
import { stopWords, synonyms } from './search-words.js';

/** The guide explains, operations are the details of it, and fields are the details of those. @type {Record<string, number>} */
const weights = { guide: 1.5, operation: 1.3, page: 0.95, error: 0.9, parameter: 0.5, field: 0.4 };

/** How much a synonym counts, compared with the word itself. */
const SYNONYM = 0.7;

/** Words of text in small letters. A camel-case name counts as a whole and by each of its words. @param {string} text */
function wordsOf(text) {
  return [
    ...text.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u),
    ...(text.match(/[a-z]+[A-Z_]\w+|[A-Z]+_\w+/g) ?? []),
  ].flatMap(word => word.toLowerCase() || []);
}

/** @param {string} word */
function stemOf(word) {
  return /^[a-z]+$/.test(word) ? stemmer(word) : word;
}

/** Whether two texts have the same words, in whatever form. @param {string} one @param {string} other */
function isSame(one, other) {
  return wordsOf(one).map(stemOf).join(' ') === wordsOf(other).map(stemOf).join(' ');
}

/** The words of a question that say what the reader looks for. @param {string} question */
function termsOf(question) {
  const words = wordsOf(question.replaceAll(/['’]/g, ''));
  const needed = words.filter(word => !stopWords.has(word));
  return [...new Set(needed.length > 0 ? needed : words)];
}

/** Other words for a term: those of its phrase too, as in `server sent events`. @param {string} term @param {string[]} stems */
function synonymsOf(term, stems) {
  const stem = stemOf(term);
  return synonyms.flatMap(({ phrases, words }) => {
    const isMeant = phrases.some(phrase => {
      const parts = phrase.split(' ').map(stemOf);
      return parts[0] === stem && parts.every(part => stems.includes(part));
    });
    return isMeant ? words : [];
  });
}

export class SearchIndex {
  /** @type {readonly Entry[]} */
  #entries;
  #index = new MiniSearch({
    fields: ['title', 'names', 'page', 'kind', 'text'],
    storeFields: [],
    tokenize: wordsOf,
    processTerm: stemOf,
    searchOptions: {
      combineWith: 'OR',
      boost: { title: 4, names: 3, page: 1.5 },
      weights: { fuzzy: 0.3, prefix: 0.5 },
      // Long texts count almost as much as short ones: the guide has longer ones than fields.
      bm25: { k: 1.2, b: 0.5, d: 0.5 },
    },
  });

  /** @param {readonly Entry[]} entries */
  constructor(entries) {
    this.#entries = entries;
  }

  /** Adds the entries in slices, between which the browser paints. */
  async load() {
    await this.#index.addAllAsync(
      this.#entries.map((entry, id) => ({ ...entry, id })),
      { chunkSize: 100 },
    );
  }

  /** The entries for a question, best first. @param {string} question @returns {Found[]} */
  find(question) {
    const terms = termsOf(question);
    const stems = terms.map(stemOf);
    /** @type {Map<number, { score: number, count: number, matched: Set<string> }>} */
    const found = new Map();
    for (const [i, term] of terms.entries()) {
      for (const [id, { score, matched }] of this.#withTerm(
        term,
        synonymsOf(term, stems),
        i === terms.length - 1,
      )) {
        const all = found.get(id) ?? { score: 0, count: 0, matched: new Set() };
        all.score += score;
        all.count += 1;
        for (const word of matched) all.matched.add(word);
        found.set(id, all);
      }
    }
    // A question rarely has all of its words in one place, but the place with more of them is better.
    return [...found]
      .map(([id, { score, count, matched }]) => {
        const entry = /** @type {Entry} */ (this.#entries[id]);
        // A plain word such as `status` is also the name of many parameters and fields.
        const isName = !['parameter', 'field'].includes(entry.level) || /[A-Z_.]/.test(question);
        // A question can contain the method and the path of an operation.
        const isNamed = entry.page.includes(' /') && ` ${question} `.includes(` ${entry.page} `);
        const names = [entry.title, entry.page, ...(entry.names?.split(', ') ?? [])];
        const isExact = isName && (isNamed || names.some(name => isSame(name, question)));
        const weight = weights[entry.level] ?? 1;
        return { entry, matched, score: score * weight * (count / terms.length) ** 2 * (isExact ? 4 : 1) };
      })
      .toSorted((a, b) => b.score - a.score);
  }

  /** The score of each entry with a term or one of its synonyms. @param {string} term @param {string[]} others @param {boolean} isLast */
  #withTerm(term, others, isLast) {
    /** @type {Map<number, { score: number, matched: Set<string> }>} */
    const best = new Map();
    const add = (/** @type {string} */ word, /** @type {number} */ weight) => {
      const options = {
        // The reader may still type the last word.
        prefix: isLast && weight === 1 && word.length > 1,
        fuzzy: weight === 1 && word.length > 4 ? 0.2 : false,
      };
      for (const { id, score, terms } of this.#index.search(word, options)) {
        const known = best.get(id);
        const matched = known?.matched ?? new Set();
        for (const other of terms) matched.add(other);
        best.set(id, { score: Math.max(known?.score ?? 0, score * weight), matched });
      }
    };
    add(term, 1);
    if (others.length > 0) add(others.join(' '), SYNONYM);
    return best;
  }
}

/** The most characters of a text that a result shows. */
const CONTEXT = 150;

/** The sentence of a text with the most words that were found. @param {string} text @param {Set<string>} matched */
export function contextOf(text, matched) {
  let context = '';
  let most = -1;
  for (const sentence of text.split(/\n|(?<=[.:!?]) /)) {
    const found = new Set(
      wordsOf(sentence)
        .map(stemOf)
        .filter(stem => matched.has(stem)),
    );
    if (found.size > most) [context, most] = [sentence, found.size];
  }
  if (context.length <= CONTEXT) return context;
  const first = wordsOf(context).find(word => matched.has(stemOf(word))) ?? '';
  const place = Math.max(0, context.toLowerCase().indexOf(first) - CONTEXT / 3);
  const from = place === 0 ? 0 : context.indexOf(' ', place) + 1;
  const part = context.slice(from, from + CONTEXT);
  const isEnd = from + CONTEXT >= context.length;
  return `${from > 0 ? '… ' : ''}${isEnd ? part : `${part.slice(0, part.lastIndexOf(' '))} …`}`;
}

/** A text in parts, every second of which is a word that was found. @param {string} text @param {Set<string>} matched */
export function partsOf(text, matched) {
  /** @type {string[]} */
  const parts = [''];
  for (const piece of text.split(/([\p{L}\p{N}_]+)/u)) {
    const isFound = wordsOf(piece).some(word => matched.has(stemOf(word)));
    if (isFound) parts.push(piece, '');
    else parts[parts.length - 1] += piece;
  }
  return parts;
}
