import { inWords } from '../../kit/in-words.ts';

/** The sentence about rows whose result the console did not get. */
export function unknownRows(rows: number): string {
  return `${inWords(rows, 'more row')} may have created animals: the page was left before their result arrived.`;
}
