import { HEADERS_LIMIT } from '../contract/request-limits.ts';

/** A parameter may fill the whole target, whose length the gate limits. */
export const routerOptions = { maxParamLength: HEADERS_LIMIT };

/** A route's path as the router writes it. A parameter is not empty: `/pets/` is no pet. */
export function routerPath(template: string): string {
  return template.replace(/\{(\w+)\}/g, ':$1(.+)');
}

/**
 * The path and query of a request target. A client of a proxy sends the absolute form (RFC 9112 §3.2.2), whose authority
 * must not be repeated in responses. Returns what is neither form as it is: the gate rejects it.
 */
export function originForm(target: string): string {
  if (target.startsWith('/') || !URL.canParse(target)) return target;
  const rest = /^https?:\/\/[^/?#]+(.*)$/i.exec(target)?.[1];
  if (rest === undefined) return target;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** The path of a request target in origin form, still percent-encoded. */
export function pathOf(target: string): string {
  const queryStart = target.indexOf('?');
  return queryStart < 0 ? target : target.slice(0, queryStart);
}

/** The path `/` stays. A loop, because a regular expression for slashes at the end takes quadratic time. */
export function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (end > 1 && path[end - 1] === '/') end--;
  return path.slice(0, end);
}
