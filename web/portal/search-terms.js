// @ts-check
/** The words of texts and questions, as the search compares them. */
import { stemmer } from 'stemmer';
import { sameWords, stopWords } from './search-words.js';

/** How much a word counts that does not name a subject: `which` and `how` still distinguish a question from a task. */
const STOP_WORD = 0.3;

/** The stem that replaces those of all words with its meaning. @type {Map<string, string>} */
const standIns = new Map(
  sameWords.flatMap(line => {
    const [first = '', ...others] = line.split(' ').map(plainStemOf);
    return others.map(other => [other, first]);
  }),
);

/** Words of text in small letters. A camel-case name counts as a whole and by each of its words. @param {string} text */
export function wordsOf(text) {
  return [
    ...text.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u),
    ...(text.match(/[a-z]+[A-Z_]\w+|[A-Z]+_\w+/g) ?? []),
  ].flatMap(word => word.toLowerCase() || []);
}

/** @param {string} word */
function plainStemOf(word) {
  return /^[a-z]+$/.test(word) ? stemmer(word) : word;
}

/** The same for all forms of a word, and for the words that mean the same. @param {string} word */
export function stemOf(word) {
  const stem = plainStemOf(word);
  return standIns.get(stem) ?? stem;
}

/** @param {string} question */
function wordsOfQuestion(question) {
  return wordsOf(question.replaceAll(/['’]/g, ''));
}

/** The words of a question that say what the reader looks for. @param {string} question */
export function termsOf(question) {
  const words = wordsOfQuestion(question);
  const needed = words.filter(word => !stopWords.has(word));
  return [...new Set(needed.length > 0 ? needed : words)];
}

/** The stems of a question with their weights, the squares of which have the sum 1. @param {string} question */
export function featuresOf(question) {
  const weights = new Map(
    wordsOfQuestion(question).map(word => [stemOf(word), stopWords.has(word) ? STOP_WORD : 1]),
  );
  const length = Math.hypot(...weights.values());
  return [...weights].map(([stem, weight]) => /** @type {const} */ ([stem, weight / length]));
}
