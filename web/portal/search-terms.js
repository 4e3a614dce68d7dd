// @ts-check
/** The words of texts and questions, as the search compares them. */
import { stemmer } from 'stemmer';
import { stopWords, synonyms } from './search-words.js';

/** How much a synonym counts, compared with the word itself. */
export const SYNONYM = 0.7;

/** Words of text in small letters. A camel-case name counts as a whole and by each of its words. @param {string} text */
export function wordsOf(text) {
  return [
    ...text.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u),
    ...(text.match(/[a-z]+[A-Z_]\w+|[A-Z]+_\w+/g) ?? []),
  ].flatMap(word => word.toLowerCase() || []);
}

/** @param {string} word */
export function stemOf(word) {
  return /^[a-z]+$/.test(word) ? stemmer(word) : word;
}

/** The words of a question that say what the reader looks for. @param {string} question */
export function termsOf(question) {
  const words = wordsOf(question.replaceAll(/['’]/g, ''));
  const needed = words.filter(word => !stopWords.has(word));
  return [...new Set(needed.length > 0 ? needed : words)];
}

/** Other words for a term: those of its phrase too, as in `server sent events`. @param {string} term @param {string[]} stems */
export function synonymsOf(term, stems) {
  const stem = stemOf(term);
  return synonyms.flatMap(({ phrases, words }) => {
    const isMeant = phrases.some(phrase => {
      const parts = phrase.split(' ').map(stemOf);
      return parts[0] === stem && parts.every(part => stems.includes(part));
    });
    return isMeant ? words : [];
  });
}

/** Stems of the words that say something. @param {string} text */
export function subjectsOf(text) {
  return new Set(termsOf(text).map(stemOf));
}
