import { HEADERS_LIMIT } from '../contract/request-limits.ts';

/** A parameter may be as long as the whole target, whose length the gate limits. */
export const routerOptions = { maxParamLength: HEADERS_LIMIT };

/** A route's path in the router's syntax. A parameter is never empty: `/pets/` is not a pet. It can have line breaks, which `.` does not match. */
export function routerPath(template: string): string {
  return template.replace(/\{(\w+)\}/g, ':$1([^]+)');
}

/**
 * The path and query of a request target. A client of a proxy sends the absolute form (RFC 9112 §3.2.2), whose authority
 * must not appear in responses. Returns any other target unchanged: the gate rejects it.
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

/** Keeps the path `/`. A loop, because a regular expression for trailing slashes takes quadratic time. */
export function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (end > 1 && path[end - 1] === '/') end--;
  return path.slice(0, end);
}
