import { type ErrorCode, errorCatalogue } from '../../contract/error-catalogue.ts';
import { errorCode } from '../../contract/errors.ts';
import { int32 } from '../../contract/schema.ts';
import { shape } from '../../contract/shape.ts';
import { http } from '../../kit/node-http.ts';
import { type HeaderName, headers } from './headers.ts';
import type { NamedSchemas } from './schemas.ts';

/** The body of every error. */
export const ErrorShape = shape({
  title: 'Error',
  properties: {
    code: {
      ...errorCode,
      description:
        'Machine-readable error code; `x-error-codes` explains each. Later releases may add codes: treat an unknown one by its `status`.',
    },
    message: {
      type: 'string',
      maxLength: 2_000,
      description: 'Human-readable description: what is wrong and what to do.',
    },
    status: { ...int32, minimum: 400, maximum: 599, description: 'The HTTP status code.' },
  },
  example: { code: 'pet_not_found', message: errorCatalogue.pet_not_found.example, status: 404 },
});

/** Headers of errors that operations share, of which some are not stable. */
const LIFECYCLE: readonly HeaderName[] = ['X-Stability'];

/** Statuses of responses for which the service may not know the operation: it could not read the request, or accepted no connection. */
const UNKNOWN_OPERATION: ReadonlySet<number> = new Set([400, 408, 414, 431, 503]);

const byStatus: Partial<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After', 'X-Should-Retry'],
  503: ['Retry-After', 'X-Should-Retry'],
};

/** Headers of responses with a code, in addition to those of its status. */
const byCode: Partial<Record<ErrorCode, readonly HeaderName[]>> = {
  idempotency_key_in_use: ['X-Should-Retry'],
  unsupported_media_type: ['Accept-Patch'],
};

/** The codes of each response that operations share. */
const shared: readonly (readonly [ErrorCode, ...ErrorCode[]])[] = [
  ['invalid_request', 'unsupported_api_version'],
  ['missing_api_key', 'invalid_api_key'],
  ['insufficient_scope', 'origin_not_allowed', 'address_not_allowed'],
  ['not_acceptable'],
  ['request_timeout'],
  ['precondition_failed'],
  ['payload_too_large'],
  ['uri_too_long'],
  ['unsupported_media_type'],
  ['rate_limit_exceeded', 'api_key_banned'],
  ['headers_too_large'],
  ['internal_error'],
  ['too_many_connections', 'service_unavailable'],
];

export function isShared(status: number, codes: readonly ErrorCode[]): boolean {
  return shared.some(
    group =>
      errorCatalogue[group[0]].status === status &&
      group.length === codes.length &&
      codes.every(code => group.includes(code)),
  );
}

/** The component name of a shared response: `TooManyRequests`. */
export function responseName(status: number): string {
  return http.STATUS_CODES[status]!.replace(/[^A-Za-z]/g, '');
}

export function sharedResponses(schemas: NamedSchemas): Record<string, object> {
  return Object.fromEntries(
    shared.map(codes => {
      const status = errorCatalogue[codes[0]].status;
      return [responseName(status), errorResponseOf(status, codes, LIFECYCLE, schemas)];
    }),
  );
}

/** An error response with one of `codes`; `lifecycle` are the headers about deprecation and stability. */
export function errorResponseOf(
  status: number,
  codes: readonly ErrorCode[],
  lifecycle: readonly HeaderName[],
  schemas: NamedSchemas,
): object {
  const isKnown = !UNKNOWN_OPERATION.has(status);
  const examples = codes.map(code => [
    code,
    { value: { code, message: errorCatalogue[code].example, status } },
  ]);
  return {
    description: codes.map(code => `\`${code}\`: ${errorCatalogue[code].meaning}`).join('\n\n'),
    headers: headers(
      [
        ...(byStatus[status] ?? []),
        ...codes.flatMap(code => byCode[code] ?? []),
        'X-Test',
        ...(isKnown ? lifecycle : []),
      ],
      isKnown ? [] : lifecycle,
    ),
    content: {
      'application/json': { schema: schemas.publish(ErrorShape), examples: Object.fromEntries(examples) },
    },
  };
}
