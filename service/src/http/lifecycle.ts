import type { FastifyRequest } from 'fastify';
import { ApiError } from '../contract/errors.ts';
import type { Operation } from '../contract/operation.ts';
import { SECOND } from '../kit/clock.ts';
import { httpDate } from '../kit/dates.ts';
import { operationUrl } from '../portal/urls.ts';
import type { HeaderPairs } from './send.ts';

/** The effects of a route's stability and deprecation on its requests. */
export interface Lifecycle {
  /**
   * Returns headers for every response, including errors: `X-Stability`; `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the
   * link to the successor (RFC 5829).
   */
  announcement(request: FastifyRequest): HeaderPairs;
  /** Throws `operation_sunset` from the sunset date. */
  rejectEnded(request: FastifyRequest): void;
}

/** Returns `undefined` for a stable route that is not deprecated. With `keepSunset`, operations never end. */
export function lifecycleOf(
  { operationId, stability, deprecation }: Pick<Operation, 'operationId' | 'stability' | 'deprecation'>,
  keepSunset: boolean,
): Lifecycle | undefined {
  if (!stability && !deprecation) return undefined;
  const headers = stability ? ['x-stability', stability] : [];
  if (!deprecation) return { announcement: () => headers.slice(), rejectEnded: () => {} };
  const sunset = Date.parse(deprecation.sunset);
  headers.push('deprecation', `@${Date.parse(deprecation.since) / SECOND}`, 'sunset', httpDate(sunset));
  const notice = `<${operationUrl(operationId)}>; rel="deprecation"; type="text/html"`;
  const expand = expander(deprecation.successor);
  const successorOf = ({ params }: FastifyRequest) => expand(params as Record<string, string>);
  return {
    announcement: request => [
      ...headers,
      'link',
      `<${successorOf(request)}>; rel="successor-version", ${notice}`,
    ],
    rejectEnded: request => {
      if (request.receivedAt < sunset || keepSunset) return;
      throw new ApiError(
        'operation_sunset',
        `This operation was withdrawn on ${deprecation.sunset}; use ${successorOf(request)} instead`,
      );
    },
  };
}

/** Returns a function that fills a URL template with path parameters. It parses the template once. */
function expander(template: string): (params: Record<string, string>) => string {
  const [start = '', ...rest] = template.split('{');
  const parts = rest.map(part => {
    const [name = '', text = ''] = part.split('}');
    return { name, text };
  });
  return params => {
    let url = start;
    for (const { name, text } of parts) url += encodeURIComponent(params[name]!) + text;
    return url;
  };
}
