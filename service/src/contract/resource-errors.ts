import { grouped } from '../kit/quantities.ts';
import { MAX_INT32 } from './schema.ts';

export interface ErrorDescription {
  /** The HTTP status. */
  readonly status: number;
  /** What the error means and what to do. */
  readonly meaning: string;
  /** A message, as the service sends it. A test gets each error and compares. */
  readonly example: string;
}

/** The errors that the state of a resource causes: one part of the error catalogue. */
export const resourceErrors = {
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
} as const satisfies Record<string, ErrorDescription>;
