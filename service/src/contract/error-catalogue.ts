import { inBinaryUnit, inBinaryUnitAndBytes } from '../kit/quantities.ts';
import { BATCH_BODY_LIMIT, BODY_LIMIT, HEADERS_LIMIT, TARGET_LIMIT } from './request-limits.ts';
import { type ErrorDescription, resourceErrors } from './resource-errors.ts';

/** The error catalogue: every code that a client can receive. The contract and the guide are generated from it. */
export const errorCatalogue = {
  // The request itself
  invalid_request: {
    status: 400,
    meaning:
      'A part of the request breaks a rule; the message states the part, the rule and the value that was sent.',
    example: 'Query parameter `limit` must be at least 1, but was 0',
  },
  unsupported_api_version: {
    status: 400,
    meaning: 'The requested API-Version does not exist; send 1 or omit the header.',
    example: 'API-Version "2" does not exist; send 1',
  },
  route_not_found: {
    status: 404,
    meaning: 'No resource exists at this path.',
    example: 'There is nothing at /animals: /docs describes every path',
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The path exists, but not with this method; the Allow header lists its methods.',
    example: 'DELETE is not allowed here; use GET, HEAD or POST',
  },
  method_not_implemented: {
    status: 501,
    meaning: 'The service does not know the method; the message lists those that it knows.',
    example:
      'The service does not know the method of the request: use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS, in capital letters',
  },
  not_acceptable: {
    status: 406,
    meaning: 'The Accept header excludes JSON, the only media type of the response.',
    example:
      'Responses are application/json, which Accept "text/html" excludes: send application/json or no Accept',
  },
  payload_too_large: {
    status: 413,
    meaning: `The body is over ${inBinaryUnit(BODY_LIMIT)}, or over ${inBinaryUnit(BATCH_BODY_LIMIT)} for a batch.`,
    example: `The body is over ${inBinaryUnitAndBytes(BODY_LIMIT)}: send less, or several requests`,
  },
  uri_too_long: {
    status: 414,
    meaning: `The request target is over ${inBinaryUnit(TARGET_LIMIT)}.`,
    example: `The request target has 9000 bytes; the limit is ${inBinaryUnitAndBytes(TARGET_LIMIT)}: send a shorter URL`,
  },
  headers_too_large: {
    status: 431,
    meaning: `The request line and headers together are over ${inBinaryUnit(HEADERS_LIMIT)}.`,
    example: `The request line and headers are over ${inBinaryUnitAndBytes(HEADERS_LIMIT)}: send fewer or shorter headers, or a shorter URL`,
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'The operation does not support the media type of the body.',
    example:
      "Send the body as application/json; it was text/plain: send the header 'Content-Type: application/json'",
  },
  request_timeout: {
    status: 408,
    meaning: 'The complete request did not arrive in time; send it again.',
    example: 'The request did not arrive completely within 30 seconds: send it again',
  },

  // The caller
  missing_api_key: {
    status: 401,
    meaning: 'The operation needs an API key: send it as X-API-Key or as a Bearer token.',
    example: 'Send an API key in the header X-API-Key, or as Authorization: Bearer <key>',
  },
  invalid_api_key: {
    status: 401,
    meaning:
      'The API key is mistyped, unknown, expired or revoked; the message states what is known about it.',
    example: 'The API key is unknown: use another key',
  },
  insufficient_scope: {
    status: 403,
    meaning: 'The API key lacks the scope that the message names; ask an administrator to add it.',
    example: 'The API key lacks the scope `pets:read`: ask an administrator to add it, or use another key',
  },
  origin_not_allowed: {
    status: 403,
    meaning:
      'No publishable key lists the origin of the page, or the key of the request does not; ask an administrator to add it.',
    example:
      'The publishable key does not allow pages of the origin "https://other.example": open the page at an origin that the key ' +
      'lists, or ask an administrator to add this one to its `origins`',
  },
  address_not_allowed: {
    status: 403,
    meaning:
      'The API key cannot be used from the address of the client; ask an administrator to add the address to its networks.',
    example:
      'The API key cannot be used from the address 127.0.0.1: send the request from a network that the key allows, or ask an ' +
      'administrator to add this address to its `allowedNetworks`',
  },
  rate_limit_exceeded: {
    status: 429,
    meaning:
      'The requests of the minute or of the day are used up; wait for the time in Retry-After, or request a larger plan.',
    example:
      'The 300 requests of this minute are used up; the next minute starts at 2026-11-21T12:01:00Z: retry after 42 s, or request ' +
      'a larger plan with POST /account/plan-requests',
  },
  api_key_banned: {
    status: 429,
    meaning:
      'The API key is banned, because it kept sending requests after it was rejected; wait for the time in Retry-After.',
    example:
      'The API key is banned, because it kept sending requests after it was rejected; the request is not admitted before ' +
      '2026-11-21T12:01:00Z: retry after 60 s, and after every 429 wait for the time in Retry-After',
  },

  // Conditional and repeated requests
  precondition_failed: {
    status: 412,
    meaning:
      'The resource has changed since the ETag in If-Match, or has no ETag, or one that If-None-Match excludes.',
    example:
      'If-Match "9c1e5f0a7b3d2e48" does not name the current state, whose ETag is "9e10b0771b4377ee": read it again and retry',
  },
  idempotency_key_reused: {
    status: 422,
    meaning: 'The Idempotency-Key was used with another request; send a new one.',
    example: 'This Idempotency-Key was used with another request; send a new key with this request',
  },
  idempotency_key_in_use: {
    status: 409,
    meaning: 'The first request with this Idempotency-Key is still running; send the request again shortly.',
    example: 'The first request with this Idempotency-Key is still running; send the request again shortly',
  },

  // Pets, categories, orders, keys, events and webhooks
  ...resourceErrors,

  // The service
  operation_sunset: {
    status: 410,
    meaning: 'The operation was withdrawn at its sunset date; the message names its successor.',
    example: 'This operation was withdrawn on 2030-12-05; use /pets?id=1 instead',
  },
  internal_error: {
    status: 500,
    meaning: 'The service failed; its log has the reason under the request ID in the message.',
    example:
      'The service failed; its log has the reason under request ID 8d0a1d2e-6f0f-4f0e-9a53-2f6f0e6f3c11',
  },
  too_many_connections: {
    status: 503,
    meaning:
      'The address or the service has the maximum number of open connections; use fewer, or wait for the time in Retry-After.',
    example:
      'Your address has 1,024 open connections, which is the maximum: use fewer, or send the request again after 1 s; an operator ' +
      'can raise PETSTORE_CONNECTIONS_PER_ADDRESS or, for a proxy, name it in PETSTORE_TRUST_PROXY',
  },
  service_unavailable: {
    status: 503,
    meaning:
      'The service cannot reach its database, or the response took too long; wait for the time in Retry-After.',
    example:
      'The database cannot be reached or does not respond in time; nothing was changed. Try again shortly',
  },
} as const satisfies Record<string, ErrorDescription>;

export type ErrorCode = keyof typeof errorCatalogue;
