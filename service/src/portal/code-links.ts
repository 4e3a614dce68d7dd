import type { ContractView } from './contract.ts';
import { CHANGELOG_URL, ERRORS_URL, errorUrl, operationUrl, STATUS_URL } from './urls.ts';

/** The page that describes a piece of code, such as `POST /keys`, `invalid_api_key` or `/docs/errors`. */
export type CodePages = ReadonlyMap<string, string>;

export function codePagesOf({ operations, document }: ContractView): CodePages {
  return new Map([
    ...operations.map(({ id, method, path }): [string, string] => [`${method} ${path}`, operationUrl(id)]),
    ...Object.keys(document['x-error-codes']).map((code): [string, string] => [code, errorUrl(code)]),
    ...[CHANGELOG_URL, ERRORS_URL, STATUS_URL].map((url): [string, string] => [url, url]),
  ]);
}

/** A heading, a block of code, a link, or a piece of code in a text, which is the only one with a group. */
const pieces = /^#+ [^\n]*$|^```.*?^```$|\[[^\]]+\]\([^)]+\)|`([^`\n]+)`/gms;

/** Links each piece of code that has a page, where the chapter has it first. */
export function withCodeLinks(markdown: string, pages: CodePages): string {
  const seen = new Set<string>();
  return markdown.replace(pieces, (piece: string, code: string | undefined) => {
    const url = code === undefined ? undefined : pages.get(code);
    if (url === undefined || seen.has(url)) return piece;
    seen.add(url);
    return `[${piece}](${url})`;
  });
}
