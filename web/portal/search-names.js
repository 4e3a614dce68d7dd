// @ts-check
/**
 * Finds pages by what developers call their subjects. Each name counts by itself: `blocked by cors` is hardly a name for a question
 * about a blocked key, although it shares a word with it.
 *
 * @typedef {import('./types.d.ts').Entry} Entry
 */
import { SYNONYM, subjectsOf } from './search-terms.js';

/** How much a name counts, compared with a text. */
const WEIGHT = 8;

export class SearchNames {
  /** The stems of the words of each title. @type {readonly Set<string>[]} */
  #titles;
  /** The stems of the words of each name, by the entries that have names. @type {Map<number, Set<string>[]>} */
  #names = new Map();
  /** How many entries have a name with a stem. @type {Map<string, number>} */
  #counts;

  /** @param {readonly Entry[]} entries */
  constructor(entries) {
    this.#titles = entries.map(({ title }) => subjectsOf(title));
    for (const [id, { names }] of entries.entries())
      if (names !== undefined) this.#names.set(id, names.split(', ').map(subjectsOf));
    const stems = [...this.#names.values()].flatMap(names => [...new Set(names.flatMap(name => [...name]))]);
    this.#counts = new Map([...Map.groupBy(stems, stem => stem)].map(([stem, { length }]) => [stem, length]));
  }

  /**
   * The entries with a name that shares words with the question: the score of the best name, and which terms are in any name.
   *
   * @param {{ stem: string, others: Set<string> }[]} meanings the terms of the question, with the stems of their synonyms
   */
  *find(meanings) {
    for (const [id, names] of this.#names) {
      let score = 0;
      /** @type {Set<number>} */
      const terms = new Set();
      for (const name of names) {
        let [sum, count] = [0, 0];
        for (const [i, { stem, others }] of meanings.entries()) {
          const part = name.has(stem) ? 1 : name.isDisjointFrom(others) ? 0 : SYNONYM;
          if (part === 0) continue;
          terms.add(i);
          count += part;
          sum += part * this.#rarityOf(stem);
        }
        score = Math.max(score, (WEIGHT * sum * Math.min(count, name.size)) / name.size);
      }
      if (score > 0) yield { id, score, terms };
    }
  }

  /** @param {string} stem */
  #rarityOf(stem) {
    return Math.log(1 + (2 * this.#names.size) / (1 + (this.#counts.get(stem) ?? 0)));
  }

  /** How similar a question is to a name or the title of an entry: 1 if it has the same words. @param {number} id @param {Set<string>} asked */
  nearness(id, asked) {
    const names = [
      .../** @type {Set<string>[]} */ (this.#titles.slice(id, id + 1)),
      ...(this.#names.get(id) ?? []),
    ];
    return Math.max(...names.map(name => name.intersection(asked).size / name.union(asked).size));
  }
}
