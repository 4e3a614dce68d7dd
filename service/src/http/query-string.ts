import { ApiError } from '../contract/errors.ts';
import { shown, shownName } from './quoting.ts';

/** Throws for a percent-encoding in a query string that is malformed or not UTF-8: the parser would keep or replace it. */
export function rejectBrokenEscapes(url: string): void {
  const query = url.indexOf('?') + 1;
  if (query === 0 || !url.includes('%', query)) return;
  for (const parameter of url.slice(query).split('&')) {
    try {
      decodeURIComponent(parameter);
    } catch {
      const [name = '', value = ''] = parameter.split('=', 2);
      throw new ApiError(
        'invalid_request',
        `Query parameter ${shownName(name)} must be percent-encoded UTF-8, but was ${shown(value)}`,
      );
    }
  }
}
