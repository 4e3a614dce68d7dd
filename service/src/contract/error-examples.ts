import { inBinaryUnitAndBytes } from '../kit/quantities.ts';
import type { ErrorCode } from './errors.ts';
import { BODY_LIMIT, HEADERS_LIMIT, TARGET_LIMIT } from './request-limits.ts';
import { MAX_INT32 } from './schema.ts';

/** A message of each code, as the service sends it. A test gets each error and compares. */
export const errorExamples: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'Query parameter `limit` must be at least 1, but was 0',
  unsupported_api_version: 'API-Version "2" does not exist; send 1',
  route_not_found: 'There is nothing at /animals: /docs describes every path',
  method_not_allowed: 'DELETE is not allowed here; use GET, HEAD or POST',
  method_not_implemented:
    'The service does not know the method of the request: use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS, in capital letters',
  not_acceptable:
    'Responses are application/json, which Accept "text/html" excludes: send application/json or no Accept',
  payload_too_large: `The body is over ${inBinaryUnitAndBytes(BODY_LIMIT)}`,
  uri_too_long: `The request target has 9000 bytes; the limit is ${inBinaryUnitAndBytes(TARGET_LIMIT)}`,
  headers_too_large: `The request line and headers are over ${inBinaryUnitAndBytes(HEADERS_LIMIT)}`,
  unsupported_media_type: 'Send the body as application/json (Content-Type)',
  request_timeout: 'The request did not arrive completely within 30 seconds',

  missing_api_key: 'Send an API key in the header X-API-Key, or as Authorization: Bearer <key>',
  invalid_api_key: 'The API key is unknown, expired or revoked: use another key',
  insufficient_scope:
    'The API key lacks the scope `pets:read`: ask an administrator to add it, or use another key',
  origin_not_allowed:
    'The publishable key does not allow pages of the origin "https://other.example": open the page at an origin that the key ' +
    'lists, or ask an administrator to add this one to its `origins`',
  rate_limit_exceeded:
    'The 300 requests of this minute are used up; the next minute starts at 2026-11-21T12:01:00Z: retry after 42 s',
  api_key_banned:
    'The API key is banned until 2026-11-21T12:01:00Z, because it kept sending requests after it was rejected: retry after ' +
    '60 s, and after every 429 wait for the time in Retry-After',

  precondition_failed:
    'If-Match "9c1e5f0a7b3d2e48" does not name the current state, whose ETag is "9e10b0771b4377ee": read it again and retry',
  idempotency_key_reused:
    'This Idempotency-Key was used with another request; send a new key with this request',
  idempotency_key_in_use:
    'The first request with this Idempotency-Key is still running; send the request again shortly',

  pet_not_found: 'There is no pet 42',
  category_not_found: 'There is no category 42',
  order_not_found: 'There is no order 42',
  unknown_category: 'Field `categoryId` names category 42, which does not exist',
  unknown_pet: 'Field `petId` names pet 42, which does not exist',
  category_name_taken: 'The name "Dogs" is taken by category 1; names are unique without regard to case',
  category_in_use: 'Category 1 still has pets; move or delete them first',
  pet_has_open_orders: 'Open orders hold units of pet 1; complete or cancel them first',
  pet_not_available: 'Pet 1 is pending and cannot be ordered',
  insufficient_stock: 'Pet 1 has 1 in stock, but 5 were requested: request fewer, or restock the pet first',
  stock_limit_exceeded: `Pet 1 has 1 in stock; ${MAX_INT32} more would exceed ${MAX_INT32}: lower the stock first`,
  out_of_stock: 'Pet 1 is sold and has no stock: raise its quantity under /store/inventory/1 instead',
  invalid_status_transition:
    'Pet 1 is sold and cannot become pending: restock it under /store/inventory/1 first',
  order_has_no_pet: 'A draft order cannot be completed: set its `petId` first',
  order_already_complete: 'Order 1 is complete: only its `shipDate` can change',

  api_key_not_found: 'There is no API key 42',
  api_key_revoked: 'API key 2 was revoked at 2026-11-21T12:00:00.000Z and cannot be changed; create another',
  last_admin_key:
    "API key 1 is the last administrator's key, or the one that works longest; first create another key with the scope " +
    '`admin` that works as long and has at least the limits of plan `free`',

  cursor_expired:
    'The events after cursor 1 have expired; the oldest cursor is 1041: read the resources to get earlier changes',
  log_restored:
    'The service was restored from a backup, and event 126 is not part of its log any more: read the resources again, and ' +
    'continue with cursor 123; the next event after it is 1000000001',
  too_many_streams:
    'The API key has 20 open streams, which is the maximum: end one of them, or use another key',

  webhook_not_found: 'There is no webhook 42',
  delivery_not_found: 'Webhook 1 has no delivery 42',
  webhook_disabled: 'Webhook 1 is disabled; enable it first',
  webhook_key_unfit:
    'Webhook 1 cannot be enabled, because API key 2 lacks the scope `events:read` and the webhook belongs to that key: have an ' +
    'administrator change the key, or create the webhook with another key',
  too_many_webhooks:
    'API key 1 has 20 webhooks, which is the maximum: delete one of them, or change one instead',
  replay_in_progress:
    'An earlier replay for webhook 1 is at event 1 of 4: wait until it ends, or end it with a replay from the cursor `latest`',

  operation_sunset: 'This operation was withdrawn on 2030-12-05; use /pets?id=1 instead',
  internal_error:
    'The service failed; its log has the reason under request ID 8d0a1d2e-6f0f-4f0e-9a53-2f6f0e6f3c11',
  too_many_connections:
    'Your address has 1,024 open connections, which is the maximum: use fewer, or send the request again after 1 s; an operator ' +
    'can raise PETSTORE_CONNECTIONS_PER_ADDRESS or, for a proxy, name it in PETSTORE_TRUST_PROXY',
  service_unavailable:
    'The database cannot be reached or does not respond in time; nothing was changed. Try again shortly',
};
