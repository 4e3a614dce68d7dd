// @ts-check
/**
 * Finds pages for the words of a developer. It has no access to the page that shows the results.
 *
 * @typedef {import('./types.d.ts').Entry} Entry
 * @typedef {import('./types.d.ts').Found} Found
 */
import MiniSearch from 'minisearch';
import { featuresOf, stemOf, termsOf, wordsOf } from './search-terms.js';

/** How much the logarithm of the score of a text counts, compared with the weights of the words of a question. */
const TEXT = 0.25;

/** The score of a text without any word of the question. It keeps the logarithm finite. */
const NO_TEXT = 0.1;

/** @type {{ score: number, scores: ReadonlyMap<string, number>, matched: Set<string> }} */
const noText = { score: 0, scores: new Map(), matched: new Set() };

/** Of similar results, the guide comes first. Details of an operation come last unless their name is the question. @type {Record<Entry['level'], number>} */
const levels = { guide: 0.3, operation: 0.3, page: 0, error: -1, parameter: -4, field: -4.5 };

/** The share of the weights of a page that its further entries get: the reader finds them on that page, too. */
const FURTHER = 0.3;

/** How much better the beginning of a page fits than its sections: it leads to all of them. */
const BEGINNING = 2;

/** How much a word that every section of a page has still counts for one of them. */
const EVERYWHERE = 0.1;

/** How much higher an entry is whose name is the question. No sum of weights is as large. */
const NAMED = 100;

/** How much higher an entry is whose name in code is in the question. The best pages for the rest of the question stay above it. */
const NAMED_IN_PART = 8;

/** How much higher an entry is whose text has a whole name in code, and not only its words. */
const WHOLE_NAME = 1;

/** How much higher still if a row of a table begins with the name, as in the table of settings: it describes the name. */
const DESCRIBED_NAME = 2;

/** Whether an entry is a detail of an operation. @param {Entry} entry */
function isPart({ level }) {
  return level === 'parameter' || level === 'field';
}

/** An error code counts as a page, since all codes are on one, and so does a parameter or field. @param {Entry} entry */
function pageOf(entry) {
  return entry.level === 'error' || isPart(entry) ? entry.url : entry.url.replace(/#.*/, '');
}

/** The names in code in a question, such as `quantityBel` and `order.placed`, in small letters. @param {string} question */
function namesIn(question) {
  return (question.match(/[\w.]*(?:\p{Ll}\p{Lu}|\w[_.]\w)[\w.]*/gu) ?? []).map(name => name.toLowerCase());
}

/**
 * How much higher an entry is because the question has its name: the method and path of an operation, or its name in code, which may be
 * incomplete while it is the whole question.
 *
 * @param {Entry} entry @param {string} question @param {string[]} names
 */
function bonusOf({ url, title, page }, question, names) {
  if (page.includes(' /') && ` ${question} `.includes(` ${page} `)) return NAMED;
  const [called, address] = [title.toLowerCase(), url.toLowerCase()];
  if (names[0] === question.toLowerCase())
    return called.startsWith(names[0]) || address.endsWith(`/${names[0]}`) ? NAMED : 0;
  return names.some(name => called === name || address.endsWith(`/${name}`)) ? NAMED_IN_PART : 0;
}

/** How much higher an entry is because its text has a whole name. @param {Entry} entry @param {Set<string>} matched @param {string[]} names */
function wholeNames({ text }, matched, names) {
  const whole = names.filter(name => matched.has(name));
  if (whole.length === 0) return 0;
  const lines = `\n${text.toLowerCase()}`;
  return WHOLE_NAME + (whole.some(name => lines.includes(`\n${name} ·`)) ? DESCRIBED_NAME : 0);
}

export class SearchIndex {
  /** @type {readonly Entry[]} */
  #entries;
  /** The entries of each page, its beginning first. @type {Map<string, number[]>} */
  #pages = new Map();
  /** How much a word speaks for pages, by its stem. @type {Map<string, [page: string, weight: number][]>} */
  #weights = new Map();
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
    for (const [id, entry] of entries.entries()) {
      const page = pageOf(entry);
      const ofPage = this.#pages.get(page);
      if (ofPage) ofPage.push(id);
      else this.#pages.set(page, [id]);
      for (const pair of entry.words?.split(',') ?? []) {
        const [stem = '', weight] = pair.split(' ');
        const ofStem = this.#weights.get(stem) ?? [];
        this.#weights.set(stem, ofStem);
        ofStem.push([page, Number(weight)]);
      }
    }
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
    const { texts, readings } = this.#textsWith(question);
    // The weights are those of sentences. A name in code also consists of words, but it means one thing.
    const names = namesIn(question);
    const isName = names[0] === question.toLowerCase();
    const votes = isName ? new Map() : this.#votesFor(question, readings);
    const pages = Map.groupBy(texts.keys(), id => pageOf(this.#entryAt(id)));
    for (const page of votes.keys())
      if (!pages.has(page)) pages.set(page, (this.#pages.get(page) ?? []).slice(0, 1));
    return [...pages]
      .flatMap(([page, ids]) => {
        const found = ids.map(id => ({ id, entry: this.#entryAt(id), ...(texts.get(id) ?? noText) }));
        const terms = new Set(found.flatMap(({ scores }) => [...scores.keys()]));
        const vote = votes.get(page) ?? 0;
        const best = Math.max(...found.map(({ score }) => score));
        const fits = this.#fitsOf(page, found);
        return found
          .toSorted((a, b) => (fits.get(b.id) ?? 0) - (fits.get(a.id) ?? 0))
          .map(({ entry, score: own, matched }, i) => {
            const score = i === 0 ? best : own;
            const text = TEXT * Math.log(score * terms.size + NO_TEXT);
            const place = isName ? 0 : levels[entry.level] + (i > 0 ? FURTHER : 1) * vote;
            const whole = wholeNames(entry, matched, names);
            return { entry, matched, score: text + place + whole + bonusOf(entry, question, names) };
          });
      })
      .toSorted((a, b) => b.score - a.score);
  }

  /** @param {number} id */
  #entryAt(id) {
    return /** @type {Entry} */ (this.#entries[id]);
  }

  /**
   * How well entries of one page fit a question. A word in most sections of a page, such as `key` in those about keys, does not
   * distinguish them.
   *
   * @param {string} page @param {readonly { id: number, scores: ReadonlyMap<string, number> }[]} found
   */
  #fitsOf(page, found) {
    const [first, ...sections] = this.#pages.get(page) ?? [];
    /** @param {string} stem */
    const rarityOf = stem => {
      const having = found.filter(({ scores }) => scores.has(stem)).length;
      return Math.log(EVERYWHERE + (sections.length + 1) / having);
    };
    return new Map(
      found.map(({ id, scores }) => {
        const sum = [...scores].reduce((fit, [stem, score]) => fit + score * rarityOf(stem), 0);
        return [id, id === first ? BEGINNING * sum : sum];
      }),
    );
  }

  /** How much the words of a question speak for each page. @param {string} question @param {Map<string, string>} readings */
  #votesFor(question, readings) {
    /** @type {Map<string, number>} */
    const votes = new Map();
    for (const [stem, share] of featuresOf(question))
      for (const [page, weight] of this.#weights.get(readings.get(stem) ?? stem) ?? [])
        votes.set(page, (votes.get(page) ?? 0) + share * weight);
    return votes;
  }

  /**
   * The entries whose texts have words of a question, and what words without a meaning were read as.
   *
   * @param {string} question
   */
  #textsWith(question) {
    /** @type {Map<number, { score: number, scores: Map<string, number>, matched: Set<string> }>} */
    const texts = new Map();
    /** @type {Map<string, string>} */
    const readings = new Map();
    const terms = new Map(termsOf(question).map(term => [stemOf(term), term]));
    const last = [...terms.keys()].at(-1);
    for (const [stem, term] of terms) {
      const exact = this.#index.search(term);
      // A word that no page has may have a typing error, and the reader may still type the last one.
      const isUnknown = exact.length === 0 && !this.#weights.has(stem);
      const options = { prefix: stem === last, fuzzy: term.length > 4 ? 0.2 : false };
      const all = isUnknown ? this.#index.search(term, options) : exact;
      const [reading] = all[0]?.terms ?? [];
      if (isUnknown && reading !== undefined) readings.set(stem, reading);
      for (const { id, score, terms: matched } of all) {
        const known = texts.get(id) ?? { score: 0, scores: new Map(), matched: new Set() };
        texts.set(id, known);
        known.score += score;
        known.scores.set(stem, score);
        for (const word of matched) known.matched.add(word);
      }
    }
    return { texts, readings };
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
