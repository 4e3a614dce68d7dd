import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Route } from '../contract/define-route.ts';
import { ApiError } from '../contract/errors.ts';
import { SECOND } from '../kit/clock.ts';
import { httpDate } from '../kit/dates.ts';

/** Where the deprecation of operations is told. */
const deprecationLink = '</openapi.yaml>; rel="deprecation"; type="application/yaml"';

/**
 * What a route's stability and deprecation add to its responses: `X-Stability`; `Deprecation` (RFC 9745), `Sunset`
 * (RFC 8594) and the link to its successor (RFC 5829); and 410 from the sunset on, unless `keepSunset`.
 */
export function lifecycleOf(
  { stability, deprecation }: Pick<Route, 'stability' | 'deprecation'>,
  keepSunset: boolean,
): ((request: FastifyRequest, reply: FastifyReply) => void) | undefined {
  if (!stability && !deprecation) return undefined;
  const headers: Record<string, string> = {};
  if (stability) headers['x-stability'] = stability;
  if (!deprecation) return (_request, reply) => void reply.headers(headers);

  const sunset = Date.parse(deprecation.sunset);
  headers.deprecation = `@${Date.parse(deprecation.since) / SECOND}`;
  headers.sunset = httpDate(sunset);
  const successorOf = expander(deprecation.successor);
  return (request, reply) => {
    const successor = successorOf(request.params as Record<string, string>);
    reply.headers(headers).header('link', `<${successor}>; rel="successor-version", ${deprecationLink}`);
    if (request.receivedAt >= sunset && !keepSunset) {
      throw new ApiError(
        'operation_sunset',
        `This operation was withdrawn on ${deprecation.sunset}; use ${successor} instead`,
      );
    }
  };
}

/** Fills a URL template with path parameters; the template is taken apart once. */
function expander(template: string): (params: Record<string, string>) => string {
  const parts = template.split(/[{}]/);
  return params => parts.map((part, i) => (i % 2 ? encodeURIComponent(params[part]!) : part)).join('');
}
