import { operations } from './operations.ts';
import type { TestedOperation } from './rules.ts';

interface Match {
  /** The operation of the contract, such as `GET /pets/{petId}`. */
  name: string | undefined;
  operation: TestedOperation | undefined;
  /** The path parameters. */
  texts: readonly (readonly [name: string, text: string])[];
  /** The methods that the path has. */
  allowed: readonly string[];
}

const routes = Object.keys(operations).map(name => {
  const [method = '', path = ''] = name.split(' ');
  const parts = path.split('/');
  return { name, method, parts };
});

/** A part with a broken escape is not an ID either way. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Finds the operation of a request. */
export function match(method: string, path: string): Match {
  const given = path.split('/');
  const here = routes.filter(
    ({ parts }) =>
      parts.length === given.length &&
      parts.every((part, i) => part === given[i] || (part.startsWith('{') && given[i])),
  );
  // A path without parameters comes first: `/events/stream`.
  const found = here.find(route => route.method === method);
  const texts = found?.parts.flatMap((part, i) =>
    part.startsWith('{') ? [[part.slice(1, -1), decoded(given[i]!)] as const] : [],
  );
  return {
    name: found?.name,
    operation: found && operations[found.name],
    texts: texts ?? [],
    allowed: here.map(route => route.method),
  };
}
