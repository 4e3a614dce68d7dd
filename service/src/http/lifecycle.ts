import type { FastifyRequest } from 'fastify';
import { ApiError } from '../contract/errors.ts';
import type { Operation } from '../contract/operation.ts';
import { SECOND } from '../kit/clock.ts';
import { httpDate } from '../kit/dates.ts';
import { operationUrl } from '../portal/urls.ts';
import type { HeaderPairs } from './send.ts';
import { isInt64 } from './validate.ts';

/** The effects of a route's stability and deprecation on its requests. */
export interface Lifecycle {
  /**
   * Adds the headers of every response, including errors: `X-Stability`; `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the
   * link to the successor (RFC 5829), if it is another URL and the path parameters are IDs: the successor rejects others, too, and
   * the link would repeat what a client put in the path.
   */
  announce(request: FastifyRequest, head: HeaderPairs): void;
  /** Throws `operation_sunset` from the sunset date. */
  rejectEnded(request: FastifyRequest): void;
}

/** Returns `undefined` for a stable route that is not deprecated. With `keepSunset`, operations never end. */
export function lifecycleOf(
  { operationId, stability, deprecation }: Pick<Operation, 'operationId' | 'stability' | 'deprecation'>,
  keepSunset: boolean,
): Lifecycle | undefined {
  if (!stability && !deprecation) return undefined;
  const addStability = (head: HeaderPairs) => {
    if (stability) head.push('x-stability', stability);
  };
  if (!deprecation) return { announce: (_request, head) => addStability(head), rejectEnded: () => {} };
  const sunset = Date.parse(deprecation.sunset);
  const [since, end] = [`@${Date.parse(deprecation.since) / SECOND}`, httpDate(sunset)];
  const notice = `<${operationUrl(operationId)}>; rel="deprecation"; type="text/html"`;
  const afterSuccessor = `>; rel="successor-version", ${notice}`;
  const expand = expander(deprecation.successor);
  const successorOf = ({ params }: FastifyRequest) => expand(params as Record<string, string>);
  const hasOwnUrl = deprecation.successor.startsWith('/');
  return {
    announce: (request, head) => {
      const successor = hasOwnUrl ? successorOf(request) : undefined;
      const link = successor === undefined ? notice : `<${successor}${afterSuccessor}`;
      addStability(head);
      head.push('deprecation', since, 'sunset', end, 'link', link);
    },
    rejectEnded: request => {
      if (request.receivedAt < sunset || keepSunset) return;
      throw new ApiError(
        'operation_sunset',
        `This operation was withdrawn on ${deprecation.sunset}; use ${successorOf(request) ?? deprecation.successor} instead`,
      );
    },
  };
}

/**
 * Returns a function that fills a URL template with the IDs in path parameters. It returns `undefined` if one is not an ID. It
 * parses the template once.
 */
function expander(template: string): (params: Record<string, string>) => string | undefined {
  const [start = '', ...rest] = template.split('{');
  const parts = rest.map(part => {
    const [name = '', text = ''] = part.split('}');
    return { name, text };
  });
  return params => {
    let url = start;
    for (const { name, text } of parts) {
      const id = params[name]!;
      if (!isInt64(id)) return undefined;
      url += id + text;
    }
    return url;
  };
}
