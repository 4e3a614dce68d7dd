import { grouped, inBinaryUnit } from '../kit/quantities.ts';
import { BATCH_BODY_LIMIT, BODY_LIMIT, HEADERS_LIMIT, TARGET_LIMIT } from './request-limits.ts';
import { MAX_INT32 } from './schema.ts';

/**
 * The error catalogue: every code that a client can receive, what it means and what to do. The HTTP status of each is in
 * `http/error-status.ts`; the contract and the guide are generated from these two tables.
 */
export const errorCatalogue = {
  // The request itself
  invalid_request:
    'A part of the request breaks a rule; the message states the part, the rule and the value that was sent.',
  unsupported_api_version: 'The requested API-Version does not exist; send 1 or omit the header.',
  route_not_found: 'No resource exists at this path.',
  method_not_allowed: 'The path exists, but not with this method; the Allow header lists its methods.',
  method_not_implemented: 'The service does not know the method; the message lists those that it knows.',
  not_acceptable: 'The Accept header excludes JSON, the only media type of the response.',
  payload_too_large: `The body is over ${inBinaryUnit(BODY_LIMIT)}, or over ${inBinaryUnit(BATCH_BODY_LIMIT)} for a batch.`,
  uri_too_long: `The request target is over ${inBinaryUnit(TARGET_LIMIT)}.`,
  headers_too_large: `The request line and headers together are over ${inBinaryUnit(HEADERS_LIMIT)}.`,
  unsupported_media_type: 'The operation does not support the media type of the body.',
  request_timeout: 'The complete request did not arrive in time; send it again.',

  // The caller
  missing_api_key: 'The operation needs an API key: send it as X-API-Key or as a Bearer token.',
  invalid_api_key:
    'The API key is mistyped, unknown, expired or revoked; the message states what is known about it.',
  insufficient_scope: 'The API key lacks the scope that the message names; ask an administrator to add it.',
  origin_not_allowed:
    'No publishable key lists the origin of the page, or the key of the request does not; ask an administrator to add it.',
  rate_limit_exceeded:
    'The requests of the minute or of the day are used up; wait for the time in Retry-After.',
  api_key_banned:
    'The API key is banned, because it kept sending requests after it was rejected; wait for the time in Retry-After.',

  // Conditional and repeated requests
  precondition_failed:
    'The resource has changed since the ETag in If-Match, or has an ETag that If-None-Match excludes.',
  idempotency_key_reused: 'The Idempotency-Key was used with another request; send a new one.',
  idempotency_key_in_use:
    'The first request with this Idempotency-Key is still running; send the request again shortly.',

  // The shop
  pet_not_found: 'No pet has this ID.',
  category_not_found: 'No category has this ID.',
  order_not_found: 'No order has this ID.',
  unknown_category: 'The body names a category that does not exist.',
  unknown_pet: 'The body names a pet that does not exist.',
  category_name_taken: 'Another category has this name (upper and lower case count as equal).',
  category_in_use: 'Pets belong to the category; move or delete them first.',
  pet_has_open_orders: 'Open orders reserve units of the pet; complete or cancel them first.',
  pet_not_available: 'The pet cannot be ordered: it is on hold or sold.',
  insufficient_stock: 'Fewer units are in stock than the order or the adjustment takes.',
  stock_limit_exceeded: `The units would raise the stock above ${grouped(MAX_INT32)}; lower it first.`,
  out_of_stock: 'The pet has no stock; raise its quantity under /store/inventory instead of its status.',
  invalid_status_transition: 'A sold pet cannot be put on hold; restock it first.',
  order_has_no_pet: 'A draft order cannot be completed; give it a petId first.',
  order_already_complete:
    'The order is complete: only its shipDate can still change, and it cannot be deleted.',

  // Keys
  api_key_not_found: 'No API key has this ID.',
  api_key_revoked: 'The API key was revoked and cannot be changed; create another.',
  last_admin_key: "No other administrator's key is valid for as long; create another one first.",

  // Events
  cursor_expired: 'The events after this cursor are deleted; the message states the oldest cursor.',
  log_restored:
    'A restore of the service removed the event of this cursor; the message states the cursor to continue with.',
  too_many_streams:
    'The API key has the maximum number of open streams; end one, or wait for the time in Retry-After.',

  // Webhooks
  webhook_not_found: 'No webhook has this ID.',
  delivery_not_found: 'The webhook has no delivery with this ID.',
  webhook_disabled: 'The webhook is disabled and receives nothing; enable it first.',
  webhook_key_unfit:
    'The key of the webhook is no longer valid or lacks a scope; change it, or create the webhook with another key.',
  too_many_webhooks: 'The API key has the maximum number of webhooks; delete one, or change one instead.',
  replay_in_progress:
    'An earlier replay of the webhook is running; wait until it ends, or end it with a replay from the cursor latest.',

  // The service
  operation_sunset: 'The operation was withdrawn at its sunset date; the Link header names its successor.',
  internal_error: 'The service failed; its log has the reason under the request ID in the message.',
  too_many_connections:
    'The address or the service has the maximum number of open connections; use fewer, or wait for the time in Retry-After.',
  service_unavailable:
    'The service cannot reach its database or took too long; send the request again after the seconds in Retry-After.',
} as const;

export type ErrorCode = keyof typeof errorCatalogue;

/** An error that is returned to the client: a `code` of the catalogue, and a `message` with the problem and the remedy. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  /** Response headers of this error, such as `Allow`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, headers: Record<string, string> = {}) {
    // No stack trace: it is never read, and creating it would cost more than the rest of the rejection.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'ApiError';
    this.code = code;
    this.headers = headers;
  }
}
