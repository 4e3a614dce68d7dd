import MiniSearch from 'minisearch';
import type { Contract, Operation } from './contract.ts';

const MOST = 12;

/** Returns a function that finds the operations that some words are about, best first, and deprecated ones last; all without words. */
export function searchOf({ operations }: Contract): (words: string) => readonly Operation[] {
  const index = new MiniSearch<Operation>({
    idField: 'name',
    fields: ['name', 'summary', 'description', 'tags'],
    searchOptions: { boost: { summary: 3, name: 2, tags: 2 }, prefix: true, fuzzy: 0.2 },
  });
  index.addAll(operations);
  const byName = new Map(operations.map(operation => [operation.name, operation]));
  return words =>
    words.trim() === ''
      ? operations
      : index
          .search(words)
          .slice(0, MOST)
          .map(({ id }) => byName.get(id)!)
          .sort((a, b) => Number(a.deprecated) - Number(b.deprecated));
}

/** An operation in one line. */
export function lineOf({ name, summary, deprecated }: Operation): string {
  return `${name}: ${summary}${deprecated ? ' (deprecated)' : ''}`;
}
