// @ts-check
/**
 * Finds pages for the words of a developer. It has no access to the page that shows the results.
 *
 * @typedef {import('./types.d.ts').Entry} Entry
 * @typedef {import('./types.d.ts').Found} Found
 */
import MiniSearch from 'minisearch';
import { SearchNames } from './search-names.js';
import { SYNONYM, stemOf, synonymsOf, termsOf, wordsOf } from './search-terms.js';

/** The guide explains, operations are the details of it, and fields are the details of those. @type {Record<string, number>} */
const weights = { guide: 1.5, operation: 1.3, page: 0.95, error: 0.9, parameter: 0.5, field: 0.4 };

/** How much the score grows when a name is the whole question. It grows less for a similar name. */
const SAME_NAME = 2;

/** How much a word counts that is in another section of the page. */
const ELSEWHERE = 0.7;

/** How much a further entry of a page counts: the reader finds it on that page, too. */
const FURTHER = 0.5;

/** An error code counts as a page: all codes are on one. @param {Entry} entry */
function pageOf({ url, level }) {
  return level === 'error' ? url : url.replace(/#.*/, '');
}

/** Whether an entry is a detail of an operation. @param {Entry} entry */
function isPart({ level }) {
  return level === 'parameter' || level === 'field';
}

export class SearchIndex {
  /** @type {readonly Entry[]} */
  #entries;
  #names;
  #index = new MiniSearch({
    fields: ['title', 'page', 'kind', 'text'],
    storeFields: [],
    tokenize: wordsOf,
    processTerm: stemOf,
    searchOptions: {
      combineWith: 'OR',
      boost: { title: 3, page: 1.5 },
      weights: { fuzzy: 0.3, prefix: 0.5 },
      // Long texts count almost as much as short ones: the guide has longer ones than fields.
      bm25: { k: 1.2, b: 0.5, d: 0.5 },
    },
  });

  /** @param {readonly Entry[]} entries */
  constructor(entries) {
    this.#entries = entries;
    this.#names = new SearchNames(entries);
  }

  /** Adds the entries in slices, between which the browser paints. */
  async load() {
    await this.#index.addAllAsync(
      this.#entries.map((entry, id) => ({ ...entry, id })),
      { chunkSize: 100 },
    );
  }

  /** The entries for a question, best first: further ones of a page count less. @param {string} question @returns {Found[]} */
  find(question) {
    const terms = termsOf(question);
    const stems = terms.map(stemOf);
    const others = terms.map(term => synonymsOf(term, stems));
    /** @type {Map<number, { score: number, terms: Set<number>, matched: Set<string> }>} */
    const found = new Map();
    const foundAt = (/** @type {number} */ id) => {
      const known = found.get(id) ?? { score: 0, terms: new Set(), matched: new Set() };
      found.set(id, known);
      return known;
    };
    for (const [i, term] of terms.entries()) {
      const ofTerm = this.#withTerm(term, others[i] ?? [], i === terms.length - 1);
      for (const [id, { score, matched }] of ofTerm) {
        const all = foundAt(id);
        all.score += score;
        all.terms.add(i);
        for (const word of matched) all.matched.add(word);
      }
    }
    const meanings = stems.map((stem, i) => ({ stem, others: new Set(others[i]?.map(stemOf)) }));
    for (const { id, score, terms: named } of this.#names.find(meanings)) {
      const all = foundAt(id);
      all.score += score;
      for (const i of named) all.terms.add(i);
    }
    /** The terms on each page. @type {Map<string, Set<number>>} */
    const ofPage = new Map();
    for (const [id, { terms: answered }] of found) {
      const entry = /** @type {Entry} */ (this.#entries[id]);
      if (!isPart(entry)) ofPage.set(pageOf(entry), answered.union(ofPage.get(pageOf(entry)) ?? answered));
    }
    const asked = new Set(stems);
    const sorted = [...found]
      .map(([id, { score, terms: answered, matched }]) => {
        const entry = /** @type {Entry} */ (this.#entries[id]);
        // A question rarely has all of its words in one place, but the place with more of them is better.
        const near = isPart(entry) ? answered : answered.union(ofPage.get(pageOf(entry)) ?? answered);
        const words = answered.size + ELSEWHERE * (near.size - answered.size);
        const share = (words / terms.length) ** 1.5;
        const name = 1 + SAME_NAME * this.#nearness(id, question, asked) ** 2;
        return { entry, matched, score: score * (weights[entry.level] ?? 1) * share * name };
      })
      .toSorted((a, b) => b.score - a.score);
    const firsts = new Map(sorted.toReversed().map(one => [pageOf(one.entry), one]));
    const isFirst = new Set(firsts.values());
    const scoreOf = (/** @type {(typeof sorted)[number]} */ one) =>
      one.score * (isFirst.has(one) ? 1 : FURTHER);
    return sorted.toSorted((a, b) => scoreOf(b) - scoreOf(a));
  }

  /** How similar the question is to a name of an entry, from 0 to 1. @param {number} id @param {string} question @param {Set<string>} asked */
  #nearness(id, question, asked) {
    const entry = /** @type {Entry} */ (this.#entries[id]);
    // A plain word such as `status` is also the name of many parameters and fields.
    if (isPart(entry) && !/[A-Z_.]/.test(question)) return 0;
    // A question can contain the method and the path of an operation.
    if (entry.page.includes(' /') && ` ${question} `.includes(` ${entry.page} `)) return 1;
    return this.#names.nearness(id, asked);
  }

  /** The score of each entry with a term or one of its synonyms. @param {string} term @param {string[]} others @param {boolean} isLast */
  #withTerm(term, others, isLast) {
    /** @type {Map<number, { score: number, matched: Set<string> }>} */
    const best = new Map();
    const add = (/** @type {string} */ word, /** @type {number} */ weight) => {
      const exact = this.#index.search(word);
      // A word that no page has may have a typing error, and the reader may still type the last one.
      const isUnknown = exact.length === 0 && weight === 1;
      const options = { prefix: isUnknown && isLast, fuzzy: isUnknown && word.length > 4 ? 0.2 : false };
      for (const { id, score, terms } of isUnknown ? this.#index.search(word, options) : exact) {
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
