import { grouped, inBinaryUnit, inBinaryUnitAndBytes } from '../kit/quantities.ts';
import { BATCH_BODY_LIMIT, BODY_LIMIT, HEADERS_LIMIT, TARGET_LIMIT } from './request-limits.ts';
import { MAX_INT32 } from './schema.ts';

interface ErrorDescription {
  /** The HTTP status. */
  readonly status: number;
  /** What the error means and what to do. */
  readonly meaning: string;
  /** A message, as the service sends it. A test gets each error and compares. */
  readonly example: string;
}

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
    example: `The body is over ${inBinaryUnitAndBytes(BODY_LIMIT)}`,
  },
  uri_too_long: {
    status: 414,
    meaning: `The request target is over ${inBinaryUnit(TARGET_LIMIT)}.`,
    example: `The request target has 9000 bytes; the limit is ${inBinaryUnitAndBytes(TARGET_LIMIT)}`,
  },
  headers_too_large: {
    status: 431,
    meaning: `The request line and headers together are over ${inBinaryUnit(HEADERS_LIMIT)}.`,
    example: `The request line and headers are over ${inBinaryUnitAndBytes(HEADERS_LIMIT)}`,
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
    example: 'The request did not arrive completely within 30 seconds',
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
      'The API key is banned until 2026-11-21T12:01:00Z, because it kept sending requests after it was rejected: retry after ' +
      '60 s, and after every 429 wait for the time in Retry-After',
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

  // The shop
  pet_not_found: { status: 404, meaning: 'No pet has this ID.', example: 'There is no pet 42' },
  category_not_found: {
    status: 404,
    meaning: 'No category has this ID.',
    example: 'There is no category 42',
  },
  order_not_found: { status: 404, meaning: 'No order has this ID.', example: 'There is no order 42' },
  unknown_category: {
    status: 422,
    meaning: 'The body names a category that does not exist.',
    example: 'Field `categoryId` names category 42, which does not exist',
  },
  unknown_pet: {
    status: 422,
    meaning: 'The body names a pet that does not exist.',
    example: 'Field `petId` names pet 42, which does not exist',
  },
  category_name_taken: {
    status: 409,
    meaning: 'Another category has this name (upper and lower case count as equal).',
    example: 'The name "Dogs" is taken by category 1; names are unique without regard to case',
  },
  category_in_use: {
    status: 409,
    meaning: 'Pets belong to the category; move or delete them first.',
    example: 'Category 1 still has pets; move or delete them first',
  },
  pet_has_open_orders: {
    status: 409,
    meaning: 'Open orders reserve units of the pet; complete or cancel them first.',
    example: 'Open orders hold units of pet 1; complete or cancel them first',
  },
  pet_not_available: {
    status: 409,
    meaning: 'The pet cannot be ordered: it is on hold or sold.',
    example: 'Pet 1 is pending and cannot be ordered: choose another with GET /pets?status=available',
  },
  insufficient_stock: {
    status: 409,
    meaning: 'Fewer units are in stock than the order or the adjustment takes.',
    example: 'Pet 1 has 1 in stock, but 5 were requested: request fewer, or restock the pet first',
  },
  stock_limit_exceeded: {
    status: 409,
    meaning: `The units would raise the stock above ${grouped(MAX_INT32)}; lower it first.`,
    example: `Pet 1 has 1 in stock; ${MAX_INT32} more would exceed ${MAX_INT32}: lower the stock first`,
  },
  out_of_stock: {
    status: 409,
    meaning: 'The pet has no stock; raise its quantity under /store/inventory instead of its status.',
    example: 'Pet 1 is sold and has no stock: raise its quantity under /store/inventory/1 instead',
  },
  invalid_status_transition: {
    status: 409,
    meaning: 'A sold pet cannot be put on hold; restock it first.',
    example: 'Pet 1 is sold and cannot become pending: restock it under /store/inventory/1 first',
  },
  order_has_no_pet: {
    status: 409,
    meaning: 'A draft order cannot be completed; give it a petId first.',
    example: 'A draft order cannot be completed: set its `petId` first',
  },
  order_already_complete: {
    status: 409,
    meaning: 'The order is complete: only its shipDate can still change, and it cannot be deleted.',
    example: 'Order 1 is complete: only its `shipDate` can change',
  },

  // Keys
  api_key_not_found: { status: 404, meaning: 'No API key has this ID.', example: 'There is no API key 42' },
  api_key_revoked: {
    status: 409,
    meaning: 'The API key was revoked and cannot be changed; create another.',
    example: 'API key 2 was revoked at 2026-11-21T12:00:00.000Z and cannot be changed; create another',
  },
  plan_request_not_found: {
    status: 404,
    meaning: 'No plan request has this ID; to the holder of a key, the requests of other keys do not exist.',
    example: 'There is no plan request 42',
  },
  plan_request_open: {
    status: 409,
    meaning: 'The API key has an open plan request; wait until an administrator has decided.',
    example:
      'API key 2 requested the plan `business` at 2026-11-21T12:00:00.000Z: wait until an administrator has decided',
  },
  plan_request_decided: {
    status: 409,
    meaning: 'The plan request was approved or declined before; change the plan of the key instead.',
    example:
      'Plan request 1 was declined at 2026-11-21T12:00:00.000Z: change the plan with PATCH /keys/2 instead',
  },
  last_admin_key: {
    status: 409,
    meaning: "No other administrator's key is valid for as long; create another one first.",
    example:
      "API key 1 is the last administrator's key, or the one that works longest; first create another key with the scope " +
      '`admin` that works as long and has at least the limits of plan `free`',
  },

  // Events
  cursor_expired: {
    status: 410,
    meaning: 'The events after this cursor are deleted; the message states the oldest cursor.',
    example:
      'The events after cursor 1 have expired; the oldest cursor is 1041: read the resources to get earlier changes',
  },
  log_restored: {
    status: 410,
    meaning:
      'A restore of the service removed the event of this cursor; the message states the cursor to continue with.',
    example:
      'The service was restored from a backup, and event 126 is not part of its log any more: read the resources again, and ' +
      'continue with cursor 123; the next event after it is 1000000001',
  },
  too_many_streams: {
    status: 429,
    meaning:
      'The API key has the maximum number of open streams; end one, or wait for the time in Retry-After.',
    example: 'The API key has 20 open streams, which is the maximum: end one of them, or use another key',
  },

  // Webhooks
  webhook_not_found: { status: 404, meaning: 'No webhook has this ID.', example: 'There is no webhook 42' },
  delivery_not_found: {
    status: 404,
    meaning: 'The webhook has no delivery with this ID.',
    example: 'Webhook 1 has no delivery 42',
  },
  webhook_disabled: {
    status: 409,
    meaning: 'The webhook is disabled and receives nothing; enable it first.',
    example: 'Webhook 1 is disabled; enable it first',
  },
  webhook_key_unfit: {
    status: 409,
    meaning:
      'The key of the webhook is no longer valid or lacks a scope; change it, or create the webhook with another key.',
    example:
      'Webhook 1 cannot be enabled, because API key 2 lacks the scope `events:read` and the webhook belongs to that key: have an ' +
      'administrator change the key, or create the webhook with another key',
  },
  too_many_webhooks: {
    status: 409,
    meaning: 'The API key has the maximum number of webhooks; delete one, or change one instead.',
    example: 'API key 1 has 20 webhooks, which is the maximum: delete one of them, or change one instead',
  },
  replay_in_progress: {
    status: 409,
    meaning:
      'An earlier replay of the webhook is running; wait until it ends, or end it with a replay from the cursor latest.',
    example:
      'An earlier replay for webhook 1 is at event 1 of 4: wait until it ends, or end it with a replay from the cursor `latest`',
  },

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
