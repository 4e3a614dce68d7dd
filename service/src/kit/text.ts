/**
 * The form in which names are compared and sorted: case-insensitive and composed (Unicode NFC). Two letters have more than one
 * lower-case spelling: ß, which is SS in capitals, and Σ, which becomes ς at the end of a word. It is composed last, because a small
 * letter can be one character where its capital has combining marks.
 */
export function foldCase(text: string): string {
  return text.toLowerCase().replaceAll('ß', 'ss').replaceAll('ς', 'σ').normalize('NFC');
}

/**
 * The first string, in code point order, after all strings that start with `prefix`; `undefined` if there is none.
 * `prefix ≤ key < prefixEnd(prefix)` is a prefix search that can use an index.
 */
export function prefixEnd(prefix: string): string | undefined {
  const points = Array.from(prefix, char => char.codePointAt(0)!);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue;
    const next = last === 0xd7ff ? 0xe000 : last + 1;
    return String.fromCodePoint(...points, next);
  }
  return undefined;
}

/** The candidate nearest to `word` by edit distance, if it is near enough to be a typing error. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const furthest = Math.max(1, Math.floor(word.length / 3));
  let best: string | undefined;
  let bestDistance = furthest + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    // A letter is not similar to every other letter.
    if (distance < bestDistance && distance < word.length) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Optimal string alignment of code points: insertions, deletions, substitutions and swaps of neighbours each cost 1. */
export function editDistance(a: string, b: string): number {
  const [from, to] = [Array.from(a), Array.from(b)];
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (swapped) cost = Math.min(cost, beforeLast[j - 2]! + 1);
      row.push(cost);
    }
    [beforeLast, last] = [last, row];
  }
  return last[to.length]!;
}

/** Compares well-formed texts by code point, as the stores do: the bytes of UTF-8 have that order. */
export function byCodePoint(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let i = 0;
  while (i < length && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  return i === length ? a.length - b.length : rankOf(a.charCodeAt(i)) - rankOf(b.charCodeAt(i));
}

/** The place of a UTF-16 code unit in the order of code points: surrogates are last, as parts of the highest code points. */
function rankOf(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Returns the text with a capital first letter. */
export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Cuts a text to at most `length` UTF-16 code units, with an ellipsis at the cut, which is never inside a character. */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  const start = text.slice(0, length - 1);
  return `${start.isWellFormed() ? start : start.slice(0, -1)}…`;
}

/** Returns names as Markdown code, with commas and a conjunction between them. */
export function inCode(names: readonly string[], conjunction: 'and' | 'or' = 'and'): string {
  const quoted = names.map(name => `\`${name}\``);
  return [quoted.slice(0, -1).join(', '), quoted.at(-1)].filter(Boolean).join(` ${conjunction} `);
}
