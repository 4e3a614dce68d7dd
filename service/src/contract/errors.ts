import { grouped, inKibibytes } from '../kit/quantities.ts';
import { BODY_LIMIT, HEADERS_LIMIT, TARGET_LIMIT } from './request-limits.ts';
import { MAX_INT32 } from './schema.ts';

/**
 * The error catalogue: every code a client can receive, what it means and what to do about it. The HTTP status of
 * each is in `http/error-status.ts`; the contract, the guide and a test are made from these two tables.
 */
export const errorCatalogue = {
  // The request itself
  invalid_request:
    'A part of the request breaks a rule; the message names the part, the rule and what was sent.',
  unsupported_api_version: 'The API-Version asked for does not exist; send 1 or leave the header out.',
  route_not_found: 'No resource lives at this path.',
  method_not_allowed: 'The path exists but not with this method; the Allow header lists those it has.',
  not_acceptable: 'The Accept header rules out JSON, the only form answers have.',
  payload_too_large: `The body is over ${inKibibytes(BODY_LIMIT)}.`,
  uri_too_long: `The request target is over ${inKibibytes(TARGET_LIMIT)}.`,
  headers_too_large: `The request line and headers together are over ${inKibibytes(HEADERS_LIMIT)}.`,
  unsupported_media_type: 'The body is not in a media type that this operation reads.',
  request_timeout: 'The request did not arrive completely in time; send it again.',

  // Who is calling
  missing_api_key: 'The operation needs an API key: send it as X-API-Key or as a Bearer token.',
  invalid_api_key: 'The API key is mistyped, unknown, expired or revoked.',
  insufficient_scope: 'The API key lacks the scope that the message names.',
  rate_limit_exceeded: 'The minute or the day of the plan is used up; wait the seconds in Retry-After.',
  api_key_banned:
    'The API key went on calling after it was told to wait, and is banned; wait the seconds in Retry-After.',

  // Conditions and repeats
  precondition_failed:
    'The resource is no longer the one that If-Match names (or is one that If-None-Match excludes).',
  idempotency_key_reused: 'The Idempotency-Key was used before with another request; take a new one.',
  idempotency_key_in_use: 'The first request with this Idempotency-Key is still running; ask again shortly.',

  // The shop
  pet_not_found: 'No pet has this ID.',
  category_not_found: 'No category has this ID.',
  order_not_found: 'No order has this ID.',
  unknown_category: 'The body names a category that does not exist.',
  unknown_pet: 'The body names a pet that does not exist.',
  category_name_taken: 'Another category has this name (upper and lower case count as equal).',
  category_in_use: 'Pets belong to the category; move or delete them first.',
  pet_has_open_orders: 'Open orders hold units of the pet; complete or cancel them first.',
  pet_not_available: 'The pet cannot be ordered: it is on hold or sold.',
  insufficient_stock: 'Fewer units are in stock than the order asks for.',
  stock_limit_exceeded: `Giving the units back would lift the stock over ${grouped(MAX_INT32)}; lower it first.`,
  out_of_stock: 'The pet has no stock; raise its quantity under /store/inventory instead of its status.',
  invalid_status_transition: 'A sold pet cannot be put on hold; restock it first.',
  order_has_no_pet: 'A draft order cannot be completed; give it a petId first.',
  order_already_complete: 'The order is complete: only its shipDate can still change.',

  // Keys
  api_key_not_found: 'No API key has this ID.',
  api_key_revoked: 'The API key was revoked and cannot be changed; create another.',
  last_admin_key: "No other administrator's key works as long; create one before this one is taken away.",

  // Events
  cursor_expired: 'The events after this cursor are no longer kept; the message names the oldest cursor.',
  too_many_streams:
    'The API key has as many streams open as it may; end one, or wait the seconds in Retry-After.',

  // Webhooks
  webhook_not_found: 'No webhook has this ID.',
  delivery_not_found: 'The webhook has no delivery with this ID.',
  webhook_disabled: 'The webhook is disabled and nothing is sent to it; enable it first.',
  webhook_key_unfit:
    'The key that the webhook belongs to has ended or lacks a scope; change it, or create the webhook with another key.',
  too_many_webhooks: 'The API key has as many webhooks as it may; delete one of them, or change one instead.',
  replay_in_progress:
    'An earlier replay of the webhook is under way; wait for its end, or end it by one from the cursor latest.',

  // The service
  operation_sunset: 'The operation was withdrawn at its sunset date; the Link header names its successor.',
  internal_error: 'A fault of the service; it was logged under the request ID in the message.',
  service_unavailable: 'The service cannot reach its database; ask again after the seconds in Retry-After.',
} as const;

export type ErrorCode = keyof typeof errorCatalogue;

/** A rejection that the caller is told about: `code` from the catalogue, `message` for a person to act on. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  /** Response headers that belong to the rejection, such as `Allow`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, headers: Record<string, string> = {}) {
    // A rejection is an answer, and nobody reads its stack; taking one costs more than all else in rejecting.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'ApiError';
    this.code = code;
    this.headers = headers;
  }
}
