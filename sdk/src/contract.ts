// Generated from openapi.yaml by `npm run openapi`. Do not edit.

/** Whether the animal can be ordered, is on hold, or is sold. */
export type PetStatus = 'available' | 'pending' | 'sold';

export type Pet = {
  /** Unique identifier assigned on creation. */
  id: number;
  /** The animal's name. */
  name: string;
  /** ID of the category the animal belongs to. */
  categoryId: number;
  status?: PetStatus;
};

/** Every response has these fields; a body may leave them out. */
export type StoredPet = Pet & Required<Pick<Pet, 'status'>>;

export type Pets = StoredPet[];

export type NewPet = {
  /** Unique identifier assigned on creation. */
  id?: number;
  /** The animal's name. */
  name: string;
  /** ID of the category the animal belongs to. */
  categoryId: number;
  status?: PetStatus;
};

export type ErrorBody = {
  /** Machine-readable error code; `x-error-codes` explains each. Later releases may add codes: treat an unknown one by its `status`. */
  code: ErrorCode;
  /** Human-readable description: what is wrong and what to do. */
  message: string;
  /** The HTTP status code. */
  status: number;
};

export type PetPatch = {
  /** Unique identifier assigned on creation. */
  id?: number;
  /** The animal's name. */
  name?: string;
  /** ID of the category the animal belongs to. */
  categoryId?: number;
  status?: PetStatus;
};

export type Category = {
  /** Unique identifier assigned on creation. */
  id: number;
  /** The category name, unique without regard to case. */
  name: string;
  /** Short description of the category. */
  description?: string;
};

export type NewCategory = {
  /** Unique identifier assigned on creation. */
  id?: number;
  /** The category name, unique without regard to case. */
  name: string;
  /** Short description of the category. */
  description?: string;
};

export type CategoryPatch = {
  /** Unique identifier assigned on creation. */
  id?: number;
  /** The category name, unique without regard to case. */
  name?: string;
  /** Short description of the category. */
  description?: string | null;
};

export type Order = {
  /** Unique order identifier. */
  id?: number;
  /** ID of the animal in the order. An order without one is a draft. */
  petId?: number;
  /** Number of units ordered; 1 when left out. */
  quantity?: number;
  /** Expected or actual ship date, ISO 8601; returned in UTC. */
  shipDate?: string;
  /** Whether the order has been fulfilled; false when left out. */
  complete?: boolean;
};

/** Every response has these fields; a body may leave them out. */
export type StoredOrder = Order & Required<Pick<Order, 'id' | 'quantity' | 'complete'>>;

export type OrderPatch = {
  /** Unique order identifier. */
  id?: number;
  /** ID of the animal in the order. An order without one is a draft. */
  petId?: number | null;
  /** Number of units ordered; 1 when left out. */
  quantity?: number | null;
  /** Expected or actual ship date, ISO 8601; returned in UTC. */
  shipDate?: string | null;
  /** Whether the order has been fulfilled; false when left out. */
  complete?: boolean | null;
};

export type InventoryItem = {
  /** ID of the animal the entry tracks. */
  petId: number;
  /** Current stock count: the units that can still be ordered. */
  quantity: number;
  status: PetStatus;
};

export type InventoryUpdate = {
  /** The new stock count. */
  quantity: number;
};

export type StockAdjustment = {
  /** Units to add to the stock; a negative number removes units, and 0 changes nothing. */
  delta: number;
  /** Why the stock changes. The event and the history have it. */
  reason?: 'received' | 'sold' | 'returned' | 'counted' | 'damaged' | 'lost' | 'corrected';
  /** A note for people who read the history. */
  note?: string;
};

export type BatchOperation = {
  /** The HTTP method. */
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path of the operation, such as `/pets/42`. A label in braces is replaced by the ID of its resource: `/store/inventory/{rex}`. */
  path: string;
  /** The body of the operation, with the rules that it has as a single request. In a field with an ID, `{"$label": "rex"}` is replaced by the ID of the resource with the label `rex`. */
  body?: Record<string, unknown>;
  /** The header `If-Match` of the operation. Operations that create a resource cannot have it. */
  ifMatch?: string;
  /** A name for the resource that the operation creates. Later operations of the batch use it instead of the ID. */
  label?: string;
};

export type Batch = {
  /** The operations, in the order of execution. */
  operations: BatchOperation[];
  /** Whether all operations succeed or fail together. With `false` each operation succeeds or fails by itself. Default: `true`. */
  atomic?: boolean;
};

export type BatchResult = {
  /** The HTTP status of the operation. */
  status: number;
  /** The ETag of the resource after the operation. */
  etag?: string;
  /** The path of the resource that the operation created. */
  location?: string;
  /** The resource after the operation, as the operation returns it. Absent after a DELETE. */
  body?: Record<string, unknown>;
  error?: ErrorBody;
};

export type BatchResults = {
  /** The result of each operation, in the order of the operations. */
  results: BatchResult[];
};

/** A temporary ban of a key that continued to send requests after it was rejected. */
export type Ban = {
  /** When the ban began. */
  since: string;
  /** When the ban ends by itself. */
  until: string;
} | null;

export type UsedWindow = {
  /** Requests that the window admits. */
  limit: number;
  /** Requests admitted so far. Rejected requests do not count. */
  used: number;
  /** Requests that the window will still admit. */
  remaining: number;
  /** When the window ends and the next begins. */
  resetAt: string;
};

export type UsedWindows = {
  minute: UsedWindow;
  day: UsedWindow;
};

export type DayUsage = {
  /** The UTC day. */
  date: string;
  /** Requests admitted on that day. */
  admitted: number;
  /** Requests rejected on that day because of the limits or a ban. */
  refused: number;
};

export type QuotaWarning = {
  /** The window whose requests are used: the `day`; or the `minute`, when 5 of the last 10 minutes were used up. */
  window: 'minute' | 'day';
  /** The part of the limit that is used, in percent: 80, 95 or 100. For minutes it is 100. */
  percent: number;
  /** Requests that the window admits. */
  limit: number;
  /** When the key had used this part. */
  passedAt: string;
};

export type ExpiryWarning = {
  /** The number of days before the end: 14, 3 or 1. */
  days: number;
  /** When so many days were left. */
  passedAt: string;
};

/** The warnings of a key. The events `key.quota_reached` and `key.expiring` report them, too. */
export type KeyWarnings = {
  /** The parts of its limits that the key has used on this UTC day, the earliest first. */
  quota: QuotaWarning[];
  /** The warnings about the present `expiresAt` of the key, the earliest first. */
  expiry: ExpiryWarning[];
};

export type NewestPlanRequest = {
  /** Unique identifier assigned on creation. */
  id: number;
  /** The ID of the API key. */
  keyId: number;
  /** The name of the API key at that time. */
  name: string;
  /** The wanted plan. */
  plan: 'free' | 'pro' | 'business' | 'enterprise';
  /** The wanted limits of an Enterprise key; other plans have none. */
  quotas: {
    /** Requests per UTC minute. */
    perMinute: number;
    /** Requests per UTC day. */
    perDay: number;
  } | null;
  /** Why, for the administrators. */
  note: string | null;
  /** Whether an administrator has decided, and how. */
  status: 'open' | 'approved' | 'declined';
  /** A message for the holder of the key. */
  message: string | null;
  /** When the plan was requested. */
  createdAt: string;
  /** When an administrator decided; null while it is open. */
  decidedAt: string | null;
} | null;

export type Account = {
  /** The ID of the API key. */
  keyId: number;
  /** Who or what uses the key. */
  name: string;
  /** Whether the key is secret; publishable: part of pages in browsers; or for tests. A publishable key has at most the scopes `pets:read` and `inventory:read`, and the address of each visitor has the limits of the Free plan under the key. The writes of a test key are executed, checked and undone; it has the plan `free`, and neither `admin` nor `webhooks:write`. */
  kind: 'secret' | 'publishable' | 'test';
  /** The plan whose limits apply. */
  plan: 'free' | 'pro' | 'business' | 'enterprise';
  /** What the key may do. */
  scopes: ('pets:read' | 'pets:write' | 'orders:read' | 'orders:write' | 'inventory:read' | 'inventory:write' | 'events:read' | 'webhooks:write' | 'admin')[];
  /** When the key expires; null for never. */
  expiresAt: string | null;
  ban: Ban;
  windows: UsedWindows;
  /** Usage by UTC day, the latest first, without days without a request. Retained for 90 days. */
  days: DayUsage[];
  warnings: KeyWarnings;
  planRequest: NewestPlanRequest;
};

export type NewPlanRequest = {
  /** The wanted plan. */
  plan: 'free' | 'pro' | 'business' | 'enterprise';
  /** The wanted limits of an Enterprise key; other plans have none. */
  quotas?: {
    /** Requests per UTC minute. */
    perMinute: number;
    /** Requests per UTC day. */
    perDay: number;
  };
  /** Why, for the administrators. */
  note?: string;
};

export type PlanRequest = {
  /** Unique identifier assigned on creation. */
  id: number;
  /** The ID of the API key. */
  keyId: number;
  /** The name of the API key at that time. */
  name: string;
  /** The wanted plan. */
  plan: 'free' | 'pro' | 'business' | 'enterprise';
  /** The wanted limits of an Enterprise key; other plans have none. */
  quotas: {
    /** Requests per UTC minute. */
    perMinute: number;
    /** Requests per UTC day. */
    perDay: number;
  } | null;
  /** Why, for the administrators. */
  note: string | null;
  /** Whether an administrator has decided, and how. */
  status: 'open' | 'approved' | 'declined';
  /** A message for the holder of the key. */
  message: string | null;
  /** When the plan was requested. */
  createdAt: string;
  /** When an administrator decided; null while it is open. */
  decidedAt: string | null;
};

export type PlanApproval = {
  /** A message for the holder of the key. */
  message?: string;
};

export type PlanRejection = {
  /** A message for the holder of the key. */
  message: string;
};

export type ApiKey = {
  /** Unique identifier assigned on creation. */
  id: number;
  /** Who or what uses the key. */
  name: string;
  /** The plan whose limits apply. */
  plan: 'free' | 'pro' | 'business' | 'enterprise';
  /** What the key may do. */
  scopes: ('pets:read' | 'pets:write' | 'orders:read' | 'orders:write' | 'inventory:read' | 'inventory:write' | 'events:read' | 'webhooks:write' | 'admin')[];
  /** Whether the key is secret; publishable: part of pages in browsers; or for tests. A publishable key has at most the scopes `pets:read` and `inventory:read`, and the address of each visitor has the limits of the Free plan under the key. The writes of a test key are executed, checked and undone; it has the plan `free`, and neither `admin` nor `webhooks:write`. */
  kind: 'secret' | 'publishable' | 'test';
  /** The negotiated limits of an Enterprise key; keys of other plans have none. */
  quotas: {
    /** Requests per UTC minute. */
    perMinute: number;
    /** Requests per UTC day. */
    perDay: number;
  } | null;
  /** The origins of the pages that use a publishable key, exactly as browsers send them in the header `Origin`: scheme, host, and port if it is not the default, in lower case. Only pages of the same machine, such as `http://localhost:3000`, can use http. In alphabetical order; null for other keys. */
  origins: string[] | null;
  /** The networks from which the key can be used: addresses, or ranges of addresses such as `203.0.113.0/24` and `2001:db8::/32`. Requests from elsewhere are rejected with 403 `address_not_allowed`. Null for everywhere. */
  allowedNetworks: string[] | null;
  /** When the key was created. */
  createdAt: string;
  /** When the key expires; null for never. */
  expiresAt: string | null;
  /** When the key was revoked. */
  revokedAt: string | null;
  /** The minute of the last request, including rejected ones. Requests to `/account` do not count. */
  lastUsedAt: string | null;
  /** The address of the first request in that minute at one of the replicas, a few seconds later. Null before the first use. */
  lastUsedFrom: string | null;
  /** The first 200 characters of the header `User-Agent` of that request. Null if it had none. */
  lastUsedClient: string | null;
  ban: Ban;
};

export type NewApiKey = {
  /** Who or what uses the key. */
  name: string;
  /** The plan whose limits apply. */
  plan: 'free' | 'pro' | 'business';
  /** What the key may do. */
  scopes: ('pets:read' | 'pets:write' | 'orders:read' | 'orders:write' | 'inventory:read' | 'inventory:write' | 'events:read' | 'webhooks:write' | 'admin')[];
  /** Whether the key is secret; publishable: part of pages in browsers; or for tests. A publishable key has at most the scopes `pets:read` and `inventory:read`, and the address of each visitor has the limits of the Free plan under the key. The writes of a test key are executed, checked and undone; it has the plan `free`, and neither `admin` nor `webhooks:write`. Without a value it is secret. */
  kind?: 'secret' | 'publishable' | 'test';
  /** When the key expires. Without a value it does not expire. */
  expiresAt?: string;
  /** The origins of the pages that use a publishable key, exactly as browsers send them in the header `Origin`: scheme, host, and port if it is not the default, in lower case. Only pages of the same machine, such as `http://localhost:3000`, can use http. Required for a publishable key, and rejected for others. */
  origins?: string[];
  /** The networks from which the key can be used: addresses, or ranges of addresses such as `203.0.113.0/24` and `2001:db8::/32`. Requests from elsewhere are rejected with 403 `address_not_allowed`. Without a value the key can be used from everywhere. */
  allowedNetworks?: string[];
};

export type NewEnterpriseApiKey = {
  /** Who or what uses the key. */
  name: string;
  /** The plan whose limits apply. */
  plan: 'enterprise';
  /** What the key may do. */
  scopes: ('pets:read' | 'pets:write' | 'orders:read' | 'orders:write' | 'inventory:read' | 'inventory:write' | 'events:read' | 'webhooks:write' | 'admin')[];
  /** Whether the key is secret; publishable: part of pages in browsers; or for tests. A publishable key has at most the scopes `pets:read` and `inventory:read`, and the address of each visitor has the limits of the Free plan under the key. The writes of a test key are executed, checked and undone; it has the plan `free`, and neither `admin` nor `webhooks:write`. Without a value it is secret. */
  kind?: 'secret' | 'publishable' | 'test';
  /** The negotiated limits of an Enterprise key; keys of other plans have none. */
  quotas: {
    /** Requests per UTC minute. */
    perMinute: number;
    /** Requests per UTC day. */
    perDay: number;
  };
  /** When the key expires. Without a value it does not expire. */
  expiresAt?: string;
  /** The origins of the pages that use a publishable key, exactly as browsers send them in the header `Origin`: scheme, host, and port if it is not the default, in lower case. Only pages of the same machine, such as `http://localhost:3000`, can use http. Required for a publishable key, and rejected for others. */
  origins?: string[];
  /** The networks from which the key can be used: addresses, or ranges of addresses such as `203.0.113.0/24` and `2001:db8::/32`. Requests from elsewhere are rejected with 403 `address_not_allowed`. Without a value the key can be used from everywhere. */
  allowedNetworks?: string[];
};

export type CreatedApiKey = {
  /** Unique identifier assigned on creation. */
  id: number;
  /** Who or what uses the key. */
  name: string;
  /** The plan whose limits apply. */
  plan: 'free' | 'pro' | 'business' | 'enterprise';
  /** What the key may do. */
  scopes: ('pets:read' | 'pets:write' | 'orders:read' | 'orders:write' | 'inventory:read' | 'inventory:write' | 'events:read' | 'webhooks:write' | 'admin')[];
  /** Whether the key is secret; publishable: part of pages in browsers; or for tests. A publishable key has at most the scopes `pets:read` and `inventory:read`, and the address of each visitor has the limits of the Free plan under the key. The writes of a test key are executed, checked and undone; it has the plan `free`, and neither `admin` nor `webhooks:write`. */
  kind: 'secret' | 'publishable' | 'test';
  /** The negotiated limits of an Enterprise key; keys of other plans have none. */
  quotas: {
    /** Requests per UTC minute. */
    perMinute: number;
    /** Requests per UTC day. */
    perDay: number;
  } | null;
  /** The origins of the pages that use a publishable key, exactly as browsers send them in the header `Origin`: scheme, host, and port if it is not the default, in lower case. Only pages of the same machine, such as `http://localhost:3000`, can use http. In alphabetical order; null for other keys. */
  origins: string[] | null;
  /** The networks from which the key can be used: addresses, or ranges of addresses such as `203.0.113.0/24` and `2001:db8::/32`. Requests from elsewhere are rejected with 403 `address_not_allowed`. Null for everywhere. */
  allowedNetworks: string[] | null;
  /** When the key was created. */
  createdAt: string;
  /** When the key expires; null for never. */
  expiresAt: string | null;
  /** When the key was revoked. */
  revokedAt: string | null;
  /** The minute of the last request, including rejected ones. Requests to `/account` do not count. */
  lastUsedAt: string | null;
  /** The address of the first request in that minute at one of the replicas, a few seconds later. Null before the first use. */
  lastUsedFrom: string | null;
  /** The first 200 characters of the header `User-Agent` of that request. Null if it had none. */
  lastUsedClient: string | null;
  ban: Ban;
  /** The secret. It is shown only once: a replay with an Idempotency-Key does not include it. */
  key?: string;
};

export type ApiKeyPatch = {
  /** Who or what uses the key. */
  name?: string;
  /** The plan whose limits apply. */
  plan?: 'free' | 'pro' | 'business' | 'enterprise';
  /** What the key may do. */
  scopes?: ('pets:read' | 'pets:write' | 'orders:read' | 'orders:write' | 'inventory:read' | 'inventory:write' | 'events:read' | 'webhooks:write' | 'admin')[];
  /** The negotiated limits of an Enterprise key; keys of other plans have none. */
  quotas?: {
    /** Requests per UTC minute. */
    perMinute?: number;
    /** Requests per UTC day. */
    perDay?: number;
  } | null;
  /** When the key expires; null for never. */
  expiresAt?: string | null;
  /** The origins of the pages that use a publishable key, exactly as browsers send them in the header `Origin`: scheme, host, and port if it is not the default, in lower case. Only pages of the same machine, such as `http://localhost:3000`, can use http. */
  origins?: string[];
  /** The networks from which the key can be used: addresses, or ranges of addresses such as `203.0.113.0/24` and `2001:db8::/32`. Requests from elsewhere are rejected with 403 `address_not_allowed`. Null for everywhere. */
  allowedNetworks?: string[] | null;
};

export type Rotation = {
  /** How long the earlier secret continues to work, in seconds; 0 ends it at once. Default: `86400`. */
  graceSeconds?: number;
};

export type RotatedApiKey = {
  /** Unique identifier assigned on creation. */
  id: number;
  /** Who or what uses the key. */
  name: string;
  /** The plan whose limits apply. */
  plan: 'free' | 'pro' | 'business' | 'enterprise';
  /** What the key may do. */
  scopes: ('pets:read' | 'pets:write' | 'orders:read' | 'orders:write' | 'inventory:read' | 'inventory:write' | 'events:read' | 'webhooks:write' | 'admin')[];
  /** Whether the key is secret; publishable: part of pages in browsers; or for tests. A publishable key has at most the scopes `pets:read` and `inventory:read`, and the address of each visitor has the limits of the Free plan under the key. The writes of a test key are executed, checked and undone; it has the plan `free`, and neither `admin` nor `webhooks:write`. */
  kind: 'secret' | 'publishable' | 'test';
  /** The negotiated limits of an Enterprise key; keys of other plans have none. */
  quotas: {
    /** Requests per UTC minute. */
    perMinute: number;
    /** Requests per UTC day. */
    perDay: number;
  } | null;
  /** The origins of the pages that use a publishable key, exactly as browsers send them in the header `Origin`: scheme, host, and port if it is not the default, in lower case. Only pages of the same machine, such as `http://localhost:3000`, can use http. In alphabetical order; null for other keys. */
  origins: string[] | null;
  /** The networks from which the key can be used: addresses, or ranges of addresses such as `203.0.113.0/24` and `2001:db8::/32`. Requests from elsewhere are rejected with 403 `address_not_allowed`. Null for everywhere. */
  allowedNetworks: string[] | null;
  /** When the key was created. */
  createdAt: string;
  /** When the key expires; null for never. */
  expiresAt: string | null;
  /** When the key was revoked. */
  revokedAt: string | null;
  /** The minute of the last request, including rejected ones. Requests to `/account` do not count. */
  lastUsedAt: string | null;
  /** The address of the first request in that minute at one of the replicas, a few seconds later. Null before the first use. */
  lastUsedFrom: string | null;
  /** The first 200 characters of the header `User-Agent` of that request. Null if it had none. */
  lastUsedClient: string | null;
  ban: Ban;
  /** When the earlier secrets expire. */
  earlierKeysExpireAt: string;
  /** The secret. It is shown only once: a replay with an Idempotency-Key does not include it. */
  key?: string;
};

export type BusyKey = {
  keyId: number;
  /** The name of the key. */
  name: string;
  /** Requests admitted on that day. */
  admitted: number;
  /** Requests rejected on that day because of the limits or a ban. */
  refused: number;
};

export type BusiestKeys = {
  /** The UTC day. */
  date: string;
  /** The keys with requests on that day, those with the most requests first. */
  keys: BusyKey[];
};

export type KeyUsage = {
  keyId: number;
  windows: UsedWindows;
  /** Usage by UTC day, the latest first, without days without a request. Retained for 90 days. */
  days: DayUsage[];
  warnings: KeyWarnings;
};

export type LeakReport = {
  /** The leaked secrets. Other texts are ignored. */
  keys: string[];
  /** Where the secrets were found, such as a repository and a file. */
  source?: string;
};

export type LeakReceipt = {
  /** The number of different texts in the report that have the form and the checksum of a secret key. The service ignores all others. It does not state which of them are secrets of keys. */
  wellFormed: number;
};

/** `pet.created`: A pet was created. `pet.updated`: A pet changed: by a request, or its status changed because of orders or stock. `pet.deleted`: A pet was deleted; `data` is its last state. Requires the scopes `events:read` and `pets:read`. */
export type PetEvent = {
  specversion: '1.0';
  /** The number of the event in the log: 1, 2, 3 … without gaps, except before a `log.restored`. As a cursor it means the position after the event. */
  id: string;
  /** The service: its public URL, or `/` if the operator has not configured one. `subject` is relative to it. */
  source: string;
  /** When the event was recorded. */
  time: string;
  datacontenttype: 'application/json';
  /** What made the change: the API key of the request, or `system` for a change without a request, such as a ban or an operator’s command. */
  actor: string;
  /** The `X-Request-Id` of the request that made the change, if a request made it. */
  requestid?: string;
  /** The trace of the request that made the change, if there is one: the header `traceparent` of W3C Trace Context, as an attribute of the CloudEvents extension Distributed Tracing. */
  traceparent?: string;
  /** Why the change was made, if it is known: the `reason` of a stock adjustment, the `message` of a decision about a plan request, or the reason of the service or of an operator’s command. */
  reason?: string;
  /** The `note` of a stock adjustment, if it has one. */
  note?: string;
  /** The kind of change. */
  type: 'pet.created' | 'pet.updated' | 'pet.deleted';
  /** The resource that changed: its URL relative to `source`. */
  subject: string;
  data: StoredPet;
};

/** `category.created`: A category was created. `category.updated`: A category changed. `category.deleted`: A category was deleted; `data` is its last state. Requires the scopes `events:read` and `pets:read`. */
export type CategoryEvent = {
  specversion: '1.0';
  /** The number of the event in the log: 1, 2, 3 … without gaps, except before a `log.restored`. As a cursor it means the position after the event. */
  id: string;
  /** The service: its public URL, or `/` if the operator has not configured one. `subject` is relative to it. */
  source: string;
  /** When the event was recorded. */
  time: string;
  datacontenttype: 'application/json';
  /** What made the change: the API key of the request, or `system` for a change without a request, such as a ban or an operator’s command. */
  actor: string;
  /** The `X-Request-Id` of the request that made the change, if a request made it. */
  requestid?: string;
  /** The trace of the request that made the change, if there is one: the header `traceparent` of W3C Trace Context, as an attribute of the CloudEvents extension Distributed Tracing. */
  traceparent?: string;
  /** Why the change was made, if it is known: the `reason` of a stock adjustment, the `message` of a decision about a plan request, or the reason of the service or of an operator’s command. */
  reason?: string;
  /** The `note` of a stock adjustment, if it has one. */
  note?: string;
  /** The kind of change. */
  type: 'category.created' | 'category.updated' | 'category.deleted';
  /** The resource that changed: its URL relative to `source`. */
  subject: string;
  data: Category;
};

/** `order.placed`: An order was placed, as open or as complete. `order.updated`: An order changed, but is still open or still complete. `order.completed`: An open order was completed, or an order was placed as complete. `order.cancelled`: An open order was cancelled; `data` is its last state. Requires the scopes `events:read` and `orders:read`. */
export type OrderEvent = {
  specversion: '1.0';
  /** The number of the event in the log: 1, 2, 3 … without gaps, except before a `log.restored`. As a cursor it means the position after the event. */
  id: string;
  /** The service: its public URL, or `/` if the operator has not configured one. `subject` is relative to it. */
  source: string;
  /** When the event was recorded. */
  time: string;
  datacontenttype: 'application/json';
  /** What made the change: the API key of the request, or `system` for a change without a request, such as a ban or an operator’s command. */
  actor: string;
  /** The `X-Request-Id` of the request that made the change, if a request made it. */
  requestid?: string;
  /** The trace of the request that made the change, if there is one: the header `traceparent` of W3C Trace Context, as an attribute of the CloudEvents extension Distributed Tracing. */
  traceparent?: string;
  /** Why the change was made, if it is known: the `reason` of a stock adjustment, the `message` of a decision about a plan request, or the reason of the service or of an operator’s command. */
  reason?: string;
  /** The `note` of a stock adjustment, if it has one. */
  note?: string;
  /** The kind of change. */
  type: 'order.placed' | 'order.updated' | 'order.completed' | 'order.cancelled';
  /** The resource that changed: its URL relative to `source`. */
  subject: string;
  data: StoredOrder;
};

/** `inventory.updated`: The stock of a pet changed in quantity or status. Requires the scopes `events:read` and `inventory:read`. */
export type InventoryEvent = {
  specversion: '1.0';
  /** The number of the event in the log: 1, 2, 3 … without gaps, except before a `log.restored`. As a cursor it means the position after the event. */
  id: string;
  /** The service: its public URL, or `/` if the operator has not configured one. `subject` is relative to it. */
  source: string;
  /** When the event was recorded. */
  time: string;
  datacontenttype: 'application/json';
  /** What made the change: the API key of the request, or `system` for a change without a request, such as a ban or an operator’s command. */
  actor: string;
  /** The `X-Request-Id` of the request that made the change, if a request made it. */
  requestid?: string;
  /** The trace of the request that made the change, if there is one: the header `traceparent` of W3C Trace Context, as an attribute of the CloudEvents extension Distributed Tracing. */
  traceparent?: string;
  /** Why the change was made, if it is known: the `reason` of a stock adjustment, the `message` of a decision about a plan request, or the reason of the service or of an operator’s command. */
  reason?: string;
  /** The `note` of a stock adjustment, if it has one. */
  note?: string;
  /** The kind of change. */
  type: 'inventory.updated';
  /** The resource that changed: its URL relative to `source`. */
  subject: string;
  data: InventoryItem;
};

/** `key.created`: An API key was created. `key.updated`: The settings of an API key changed. `key.rotated`: An API key got a new secret. `key.revoked`: An API key was revoked. `key.unbanned`: An administrator lifted the bans of an API key: `data` is the key. `key.limits_reset`: An administrator reset the usage of an API key: `data` is the key. Requires the scope `admin`. */
export type KeyEvent = {
  specversion: '1.0';
  /** The number of the event in the log: 1, 2, 3 … without gaps, except before a `log.restored`. As a cursor it means the position after the event. */
  id: string;
  /** The service: its public URL, or `/` if the operator has not configured one. `subject` is relative to it. */
  source: string;
  /** When the event was recorded. */
  time: string;
  datacontenttype: 'application/json';
  /** What made the change: the API key of the request, or `system` for a change without a request, such as a ban or an operator’s command. */
  actor: string;
  /** The `X-Request-Id` of the request that made the change, if a request made it. */
  requestid?: string;
  /** The trace of the request that made the change, if there is one: the header `traceparent` of W3C Trace Context, as an attribute of the CloudEvents extension Distributed Tracing. */
  traceparent?: string;
  /** Why the change was made, if it is known: the `reason` of a stock adjustment, the `message` of a decision about a plan request, or the reason of the service or of an operator’s command. */
  reason?: string;
  /** The `note` of a stock adjustment, if it has one. */
  note?: string;
  /** The kind of change. */
  type: 'key.created' | 'key.updated' | 'key.rotated' | 'key.revoked' | 'key.unbanned' | 'key.limits_reset';
  /** The resource that changed: its URL relative to `source`. */
  subject: string;
  data: ApiKey;
};

/** `key.banned`: An API key was banned: `data` is the ban. Requires the scope `admin`. */
export type KeyBannedEvent = {
  specversion: '1.0';
  /** The number of the event in the log: 1, 2, 3 … without gaps, except before a `log.restored`. As a cursor it means the position after the event. */
  id: string;
  /** The service: its public URL, or `/` if the operator has not configured one. `subject` is relative to it. */
  source: string;
  /** When the event was recorded. */
  time: string;
  datacontenttype: 'application/json';
  /** What made the change: the API key of the request, or `system` for a change without a request, such as a ban or an operator’s command. */
  actor: string;
  /** The `X-Request-Id` of the request that made the change, if a request made it. */
  requestid?: string;
  /** The trace of the request that made the change, if there is one: the header `traceparent` of W3C Trace Context, as an attribute of the CloudEvents extension Distributed Tracing. */
  traceparent?: string;
  /** Why the change was made, if it is known: the `reason` of a stock adjustment, the `message` of a decision about a plan request, or the reason of the service or of an operator’s command. */
  reason?: string;
  /** The `note` of a stock adjustment, if it has one. */
  note?: string;
  /** The kind of change. */
  type: 'key.banned';
  /** The resource that changed: its URL relative to `source`. */
  subject: string;
  data: Ban;
};

export type KeyLeak = {
  /** The ID of the API key. */
  keyId: number;
  /** The name of the API key. */
  name: string;
  /** What has ended: the `key`, which was revoked; only an `earlierSecret`, whose grace after a rotation had not ended; or `nothing`, because the service only reports leaked keys. */
  ended: 'key' | 'earlierSecret' | 'nothing';
  /** The address of the client that sent the report; null if it disconnected at once. */
  address: string | null;
  /** Where the secrets were found, such as a repository and a file. Secrets in it are replaced by their prefix. Null if the report has none. */
  source: string | null;
};

/** `key.leaked`: Someone reported a secret of an API key as leaked: `data` states what ended because of it. The webhooks of the key receive the event regardless of their `types` and the scopes of the key, and as their last one if the key was revoked. Requires the scope `admin`. */
export type KeyLeakedEvent = {
  specversion: '1.0';
  /** The number of the event in the log: 1, 2, 3 … without gaps, except before a `log.restored`. As a cursor it means the position after the event. */
  id: string;
  /** The service: its public URL, or `/` if the operator has not configured one. `subject` is relative to it. */
  source: string;
  /** When the event was recorded. */
  time: string;
  datacontenttype: 'application/json';
  /** What made the change: the API key of the request, or `system` for a change without a request, such as a ban or an operator’s command. */
  actor: string;
  /** The `X-Request-Id` of the request that made the change, if a request made it. */
  requestid?: string;
  /** The trace of the request that made the change, if there is one: the header `traceparent` of W3C Trace Context, as an attribute of the CloudEvents extension Distributed Tracing. */
  traceparent?: string;
  /** Why the change was made, if it is known: the `reason` of a stock adjustment, the `message` of a decision about a plan request, or the reason of the service or of an operator’s command. */
  reason?: string;
  /** The `note` of a stock adjustment, if it has one. */
  note?: string;
  /** The kind of change. */
  type: 'key.leaked';
  /** The resource that changed: its URL relative to `source`. */
  subject: string;
  data: KeyLeak;
};

export type KeyQuota = {
  /** The ID of the API key. */
  keyId: number;
  /** The name of the API key. */
  name: string;
  /** The window whose requests are used: the `day`; or the `minute`, when 5 of the last 10 minutes were used up. */
  window: 'minute' | 'day';
  /** The part of the limit that is used, in percent: 80, 95 or 100. For minutes it is 100. */
  percent: number;
  /** Requests that the window admits. */
  limit: number;
  /** Requests admitted in the window when the warning was given. */
  used: number;
  /** When the window ends. */
  resetAt: string;
};

/** `key.quota_reached`: An API key has used 80, 95 or 100 percent of its requests of a UTC day, or all requests of the minute in 5 of 10 minutes. Each part is reported once a day, again after a reset and with another limit. A key may read the warnings about itself. Requires the scope `events:read`; for warnings about other keys `admin`. */
export type KeyQuotaReachedEvent = {
  specversion: '1.0';
  /** The number of the event in the log: 1, 2, 3 … without gaps, except before a `log.restored`. As a cursor it means the position after the event. */
  id: string;
  /** The service: its public URL, or `/` if the operator has not configured one. `subject` is relative to it. */
  source: string;
  /** When the event was recorded. */
  time: string;
  datacontenttype: 'application/json';
  /** What made the change: the API key of the request, or `system` for a change without a request, such as a ban or an operator’s command. */
  actor: string;
  /** The `X-Request-Id` of the request that made the change, if a request made it. */
  requestid?: string;
  /** The trace of the request that made the change, if there is one: the header `traceparent` of W3C Trace Context, as an attribute of the CloudEvents extension Distributed Tracing. */
  traceparent?: string;
  /** Why the change was made, if it is known: the `reason` of a stock adjustment, the `message` of a decision about a plan request, or the reason of the service or of an operator’s command. */
  reason?: string;
  /** The `note` of a stock adjustment, if it has one. */
  note?: string;
  /** The kind of change. */
  type: 'key.quota_reached';
  /** The resource that changed: its URL relative to `source`. */
  subject: string;
  data: KeyQuota;
};

export type KeyExpiry = {
  /** The ID of the API key. */
  keyId: number;
  /** The name of the API key. */
  name: string;
  /** The warning: 14, 3 or 1, at most so many days before the end. */
  days: number;
  /** When the key expires. */
  expiresAt: string;
};

/** `key.expiring`: An API key expires within 14, 3 or 1 days. A key may read the warnings about itself. Requires the scope `events:read`; for warnings about other keys `admin`. */
export type KeyExpiringEvent = {
  specversion: '1.0';
  /** The number of the event in the log: 1, 2, 3 … without gaps, except before a `log.restored`. As a cursor it means the position after the event. */
  id: string;
  /** The service: its public URL, or `/` if the operator has not configured one. `subject` is relative to it. */
  source: string;
  /** When the event was recorded. */
  time: string;
  datacontenttype: 'application/json';
  /** What made the change: the API key of the request, or `system` for a change without a request, such as a ban or an operator’s command. */
  actor: string;
  /** The `X-Request-Id` of the request that made the change, if a request made it. */
  requestid?: string;
  /** The trace of the request that made the change, if there is one: the header `traceparent` of W3C Trace Context, as an attribute of the CloudEvents extension Distributed Tracing. */
  traceparent?: string;
  /** Why the change was made, if it is known: the `reason` of a stock adjustment, the `message` of a decision about a plan request, or the reason of the service or of an operator’s command. */
  reason?: string;
  /** The `note` of a stock adjustment, if it has one. */
  note?: string;
  /** The kind of change. */
  type: 'key.expiring';
  /** The resource that changed: its URL relative to `source`. */
  subject: string;
  data: KeyExpiry;
};

/** `key.plan_requested`: The holder of an API key requested another plan: `data` is the plan request. `key.plan_approved`: An administrator approved a plan request. A `key.updated` with the new plan precedes it. `key.plan_declined`: An administrator declined a plan request. Requires the scope `admin`. */
export type PlanRequestEvent = {
  specversion: '1.0';
  /** The number of the event in the log: 1, 2, 3 … without gaps, except before a `log.restored`. As a cursor it means the position after the event. */
  id: string;
  /** The service: its public URL, or `/` if the operator has not configured one. `subject` is relative to it. */
  source: string;
  /** When the event was recorded. */
  time: string;
  datacontenttype: 'application/json';
  /** What made the change: the API key of the request, or `system` for a change without a request, such as a ban or an operator’s command. */
  actor: string;
  /** The `X-Request-Id` of the request that made the change, if a request made it. */
  requestid?: string;
  /** The trace of the request that made the change, if there is one: the header `traceparent` of W3C Trace Context, as an attribute of the CloudEvents extension Distributed Tracing. */
  traceparent?: string;
  /** Why the change was made, if it is known: the `reason` of a stock adjustment, the `message` of a decision about a plan request, or the reason of the service or of an operator’s command. */
  reason?: string;
  /** The `note` of a stock adjustment, if it has one. */
  note?: string;
  /** The kind of change. */
  type: 'key.plan_requested' | 'key.plan_approved' | 'key.plan_declined';
  /** The resource that changed: its URL relative to `source`. */
  subject: string;
  data: PlanRequest;
};

export type Webhook = {
  /** Unique identifier assigned on creation. */
  id: number;
  /** Where events are sent: an HTTPS URL with a public address, without a user name, a password or a fragment. It is stored in its parsed form. */
  url: string;
  /** The types of events to send; `order.*` means all types that start with `order.`. The API key needs the scopes of all of them. Null means all events that the key may read. Every webhook also gets `log.restored`. */
  types: string[] | null;
  /** What the webhook is for. */
  description?: string;
  /** Whether events are sent. Events that happen while it is false are sent later. */
  enabled: boolean;
  /** The ID of the API key that created the webhook. The webhook works only while that key works. */
  createdBy: number;
  /** Why the service disabled the webhook; null if it did not. */
  disabledReason: string | null;
  /** When the webhook was disabled. */
  disabledAt: string | null;
  /** When the first attempt after the last success failed. Test events do not count. A new `url`, or enabling the webhook, clears it. */
  failingSince: string | null;
  /** When the webhook was created. */
  createdAt: string;
};

/** `webhook.created`: A webhook was created. `webhook.updated`: The settings of a webhook changed. `webhook.enabled`: A client enabled a webhook. `webhook.disabled`: A client or the service disabled a webhook: `data` has the reason of the service. `webhook.rotated`: A webhook got a new secret. `webhook.deleted`: A webhook was deleted; `data` is its last state. Requires the scope `admin`. */
export type WebhookEvent = {
  specversion: '1.0';
  /** The number of the event in the log: 1, 2, 3 … without gaps, except before a `log.restored`. As a cursor it means the position after the event. */
  id: string;
  /** The service: its public URL, or `/` if the operator has not configured one. `subject` is relative to it. */
  source: string;
  /** When the event was recorded. */
  time: string;
  datacontenttype: 'application/json';
  /** What made the change: the API key of the request, or `system` for a change without a request, such as a ban or an operator’s command. */
  actor: string;
  /** The `X-Request-Id` of the request that made the change, if a request made it. */
  requestid?: string;
  /** The trace of the request that made the change, if there is one: the header `traceparent` of W3C Trace Context, as an attribute of the CloudEvents extension Distributed Tracing. */
  traceparent?: string;
  /** Why the change was made, if it is known: the `reason` of a stock adjustment, the `message` of a decision about a plan request, or the reason of the service or of an operator’s command. */
  reason?: string;
  /** The `note` of a stock adjustment, if it has one. */
  note?: string;
  /** The kind of change. */
  type: 'webhook.created' | 'webhook.updated' | 'webhook.enabled' | 'webhook.disabled' | 'webhook.rotated' | 'webhook.deleted';
  /** The resource that changed: its URL relative to `source`. */
  subject: string;
  data: Webhook;
};

export type Replay = {
  /** The webhook. */
  webhookId: number;
  /** Events after this one are delivered, again or for the first time. */
  cursor: string;
  /** The latest event of the log. */
  latest: string;
};

/** `webhook.replayed`: A replay of events was started for a webhook: `data` has its cursor. Requires the scope `admin`. */
export type WebhookReplayEvent = {
  specversion: '1.0';
  /** The number of the event in the log: 1, 2, 3 … without gaps, except before a `log.restored`. As a cursor it means the position after the event. */
  id: string;
  /** The service: its public URL, or `/` if the operator has not configured one. `subject` is relative to it. */
  source: string;
  /** When the event was recorded. */
  time: string;
  datacontenttype: 'application/json';
  /** What made the change: the API key of the request, or `system` for a change without a request, such as a ban or an operator’s command. */
  actor: string;
  /** The `X-Request-Id` of the request that made the change, if a request made it. */
  requestid?: string;
  /** The trace of the request that made the change, if there is one: the header `traceparent` of W3C Trace Context, as an attribute of the CloudEvents extension Distributed Tracing. */
  traceparent?: string;
  /** Why the change was made, if it is known: the `reason` of a stock adjustment, the `message` of a decision about a plan request, or the reason of the service or of an operator’s command. */
  reason?: string;
  /** The `note` of a stock adjustment, if it has one. */
  note?: string;
  /** The kind of change. */
  type: 'webhook.replayed';
  /** The resource that changed: its URL relative to `source`. */
  subject: string;
  data: Replay;
};

export type WebhookDelivery = {
  /** Unique identifier of the delivery. */
  id: number;
  /** The webhook. */
  webhookId: number;
  /** The `webhook-id` header. It is the same each time this event is sent to this webhook. */
  messageId: string;
  /** The `id` of the event in the log. */
  eventId: string;
  /** The type of the event. */
  type: string;
  /** The resource that changed. Events of one subject are delivered in order. */
  subject: string;
  /** A `dead` delivery failed in all its attempts, its webhook was disabled for as many days as events are retained, or the key of the webhook may no longer read its event. It can be redelivered while the webhook is enabled and its key may read the event. */
  status: 'pending' | 'delivered' | 'dead';
  /** The number of attempts. */
  attemptCount: number;
  /** When the next attempt is due, unless the webhook is disabled; null while the delivery is being sent, waits for an earlier delivery of its subject, or is finished. */
  nextAttemptAt: string | null;
  /** When the delivery was created. */
  createdAt: string;
  /** When it was delivered or became `dead`. */
  finishedAt: string | null;
};

/** `webhook.redelivered`: A delivery was scheduled again: `data` is the delivery. Requires the scope `admin`. */
export type WebhookRedeliveryEvent = {
  specversion: '1.0';
  /** The number of the event in the log: 1, 2, 3 … without gaps, except before a `log.restored`. As a cursor it means the position after the event. */
  id: string;
  /** The service: its public URL, or `/` if the operator has not configured one. `subject` is relative to it. */
  source: string;
  /** When the event was recorded. */
  time: string;
  datacontenttype: 'application/json';
  /** What made the change: the API key of the request, or `system` for a change without a request, such as a ban or an operator’s command. */
  actor: string;
  /** The `X-Request-Id` of the request that made the change, if a request made it. */
  requestid?: string;
  /** The trace of the request that made the change, if there is one: the header `traceparent` of W3C Trace Context, as an attribute of the CloudEvents extension Distributed Tracing. */
  traceparent?: string;
  /** Why the change was made, if it is known: the `reason` of a stock adjustment, the `message` of a decision about a plan request, or the reason of the service or of an operator’s command. */
  reason?: string;
  /** The `note` of a stock adjustment, if it has one. */
  note?: string;
  /** The kind of change. */
  type: 'webhook.redelivered';
  /** The resource that changed: its URL relative to `source`. */
  subject: string;
  data: WebhookDelivery;
};

/** `webhook.test`: A webhook was tested. Only this webhook receives the event, regardless of its `types`. Requires the scope `admin`. */
export type WebhookTestEvent = {
  specversion: '1.0';
  /** The number of the event in the log: 1, 2, 3 … without gaps, except before a `log.restored`. As a cursor it means the position after the event. */
  id: string;
  /** The service: its public URL, or `/` if the operator has not configured one. `subject` is relative to it. */
  source: string;
  /** When the event was recorded. */
  time: string;
  datacontenttype: 'application/json';
  /** What made the change: the API key of the request, or `system` for a change without a request, such as a ban or an operator’s command. */
  actor: string;
  /** The `X-Request-Id` of the request that made the change, if a request made it. */
  requestid?: string;
  /** The trace of the request that made the change, if there is one: the header `traceparent` of W3C Trace Context, as an attribute of the CloudEvents extension Distributed Tracing. */
  traceparent?: string;
  /** Why the change was made, if it is known: the `reason` of a stock adjustment, the `message` of a decision about a plan request, or the reason of the service or of an operator’s command. */
  reason?: string;
  /** The `note` of a stock adjustment, if it has one. */
  note?: string;
  /** The kind of change. */
  type: 'webhook.test';
  /** The resource that changed: its URL relative to `source`. */
  subject: string;
  data: Webhook;
};

export type Rejection = {
  /** The method and the path template of the operation, such as `DELETE /keys/{keyId}`. */
  operation: string;
  /** The error code of the last attempt. */
  code: ErrorCode;
  /** The HTTP status of the last attempt. */
  status: number;
  /** The number of attempts that this event reports. */
  attempts: number;
  /** The API key that made the requests; null without a valid key. */
  keyId: number | null;
  /** The address of the last attempt. It is null, as `keyId`, for the attempts of further callers when too many are rejected at once. */
  address: string | null;
};

/** `access.refused`: Requests to manage API keys, plan requests or webhooks were rejected: `data` has the operation, the error and the number of attempts since the last such event, at most one in a minute for each caller and operation. Requires the scope `admin`. */
export type AccessRefusedEvent = {
  specversion: '1.0';
  /** The number of the event in the log: 1, 2, 3 … without gaps, except before a `log.restored`. As a cursor it means the position after the event. */
  id: string;
  /** The service: its public URL, or `/` if the operator has not configured one. `subject` is relative to it. */
  source: string;
  /** When the event was recorded. */
  time: string;
  datacontenttype: 'application/json';
  /** What made the change: the API key of the request, or `system` for a change without a request, such as a ban or an operator’s command. */
  actor: string;
  /** The `X-Request-Id` of the request that made the change, if a request made it. */
  requestid?: string;
  /** The trace of the request that made the change, if there is one: the header `traceparent` of W3C Trace Context, as an attribute of the CloudEvents extension Distributed Tracing. */
  traceparent?: string;
  /** Why the change was made, if it is known: the `reason` of a stock adjustment, the `message` of a decision about a plan request, or the reason of the service or of an operator’s command. */
  reason?: string;
  /** The `note` of a stock adjustment, if it has one. */
  note?: string;
  /** The kind of change. */
  type: 'access.refused';
  /** The resource that changed: its URL relative to `source`. */
  subject: string;
  data: Rejection;
};

export type StoreChange = {
  /** The command of the operator. */
  command: string;
};

/** `service.store_created`: An operator created an empty store with `new-store`. `service.store_migrated`: An operator copied the embedded store to PostgreSQL with `migrate-store`. Requires the scope `admin`. */
export type ServiceEvent = {
  specversion: '1.0';
  /** The number of the event in the log: 1, 2, 3 … without gaps, except before a `log.restored`. As a cursor it means the position after the event. */
  id: string;
  /** The service: its public URL, or `/` if the operator has not configured one. `subject` is relative to it. */
  source: string;
  /** When the event was recorded. */
  time: string;
  datacontenttype: 'application/json';
  /** What made the change: the API key of the request, or `system` for a change without a request, such as a ban or an operator’s command. */
  actor: string;
  /** The `X-Request-Id` of the request that made the change, if a request made it. */
  requestid?: string;
  /** The trace of the request that made the change, if there is one: the header `traceparent` of W3C Trace Context, as an attribute of the CloudEvents extension Distributed Tracing. */
  traceparent?: string;
  /** Why the change was made, if it is known: the `reason` of a stock adjustment, the `message` of a decision about a plan request, or the reason of the service or of an operator’s command. */
  reason?: string;
  /** The `note` of a stock adjustment, if it has one. */
  note?: string;
  /** The kind of change. */
  type: 'service.store_created' | 'service.store_migrated';
  /** The resource that changed: its URL relative to `source`. */
  subject: string;
  data: StoreChange;
};

export type LogRestoration = {
  /** The `id` of the last event before the restore that is still part of the log; `0` if there is none. As a cursor it means the position before the `log.restored`. */
  lastSurvivingId: string;
};

/** `log.restored`: The service was restored from a backup. The log continues with this event, after the one that `data` names; its number is a multiple of 1,000,000,000, plus 1. The events between the two no longer exist. Requires the scope `events:read`. */
export type LogRestoredEvent = {
  specversion: '1.0';
  /** The number of the event in the log: 1, 2, 3 … without gaps, except before a `log.restored`. As a cursor it means the position after the event. */
  id: string;
  /** The service: its public URL, or `/` if the operator has not configured one. `subject` is relative to it. */
  source: string;
  /** When the event was recorded. */
  time: string;
  datacontenttype: 'application/json';
  /** What made the change: the API key of the request, or `system` for a change without a request, such as a ban or an operator’s command. */
  actor: string;
  /** The `X-Request-Id` of the request that made the change, if a request made it. */
  requestid?: string;
  /** The trace of the request that made the change, if there is one: the header `traceparent` of W3C Trace Context, as an attribute of the CloudEvents extension Distributed Tracing. */
  traceparent?: string;
  /** Why the change was made, if it is known: the `reason` of a stock adjustment, the `message` of a decision about a plan request, or the reason of the service or of an operator’s command. */
  reason?: string;
  /** The `note` of a stock adjustment, if it has one. */
  note?: string;
  /** The kind of change. */
  type: 'log.restored';
  /** The resource that changed: its URL relative to `source`. */
  subject: string;
  data: LogRestoration;
};

/** An event of a type in this document: `type` determines the shape of `data`. */
export type KnownEvent = PetEvent | CategoryEvent | OrderEvent | InventoryEvent | KeyEvent | KeyBannedEvent | KeyLeakedEvent | KeyQuotaReachedEvent | KeyExpiringEvent | PlanRequestEvent | WebhookEvent | WebhookReplayEvent | WebhookRedeliveryEvent | WebhookTestEvent | AccessRefusedEvent | ServiceEvent | LogRestoredEvent;

/** An event whose type is not in this document, because a later release added it. */
export type OtherEvent = {
  specversion: '1.0';
  /** The number of the event in the log: 1, 2, 3 … without gaps, except before a `log.restored`. As a cursor it means the position after the event. */
  id: string;
  /** The service: its public URL, or `/` if the operator has not configured one. `subject` is relative to it. */
  source: string;
  /** When the event was recorded. */
  time: string;
  datacontenttype: 'application/json';
  /** What made the change: the API key of the request, or `system` for a change without a request, such as a ban or an operator’s command. */
  actor: string;
  /** The `X-Request-Id` of the request that made the change, if a request made it. */
  requestid?: string;
  /** The trace of the request that made the change, if there is one: the header `traceparent` of W3C Trace Context, as an attribute of the CloudEvents extension Distributed Tracing. */
  traceparent?: string;
  /** Why the change was made, if it is known: the `reason` of a stock adjustment, the `message` of a decision about a plan request, or the reason of the service or of an operator’s command. */
  reason?: string;
  /** The `note` of a stock adjustment, if it has one. */
  note?: string;
  /** The type of the event. */
  type: string;
  /** The resource that changed: its URL relative to `source`. */
  subject: string;
  /** The resource after the change. */
  data: Record<string, unknown>;
};

/** A change, as a CloudEvent (CloudEvents 1.0, JSON format). `type` determines the shape of `data`: the resource after the change, or its last state if it was deleted. The inventory entry of a pet is created and deleted with the pet, without separate events. Later releases may add types: ignore events whose type you do not know. */
export type Event = KnownEvent;

export type FieldChange = {
  /** The name of the field. */
  field: string;
  /** The value before the change; absent if the field had none. */
  from?: unknown;
  /** The value after the change; absent if the field has none. */
  to?: unknown;
};

export type HistoryEntry = {
  /** The `id` of the event in the log. */
  eventId: string;
  /** When the change was made. */
  time: string;
  /** The type of the event. */
  type: string;
  /** The thing that changed, such as `pets/42`. */
  subject: string;
  /** The name of the thing at that time: of the pet for its stock and its orders, if the key has `pets:read`. Null if it has none. */
  name: string | null;
  /** What made the change: the API key of the request, such as `keys/12`, or `system`. */
  actor: string;
  /** The name of this API key, also after it was revoked. Null for `system`. */
  actorName: string | null;
  /** The `X-Request-Id` of the request that made the change, if a request made it. */
  requestId: string | null;
  /** Why the change was made, if it is known. */
  reason: string | null;
  /** The note of the person who made the change, if there is one. */
  note: string | null;
  /** The fields that changed, with their exact values. A new thing has only values after the change (`to`), and a thing that was deleted only its last values (`from`). */
  changes: FieldChange[];
};

export type Checkpoint = {
  /** The `id` of the last event of the newest group of events; `0` while the log is empty. */
  id: string;
  /** The seal of this group, which depends on every event up to it. */
  seal: string;
  /** When the group was sealed. */
  time: string;
};

export type SealedGroup = {
  /** The `id` of the first event of the group. */
  firstId: string;
  /** The `id` of its last event. */
  lastId: string;
  /** The seal of the group before; 64 zeros for the first group. */
  previous: string;
  /** The seal of the group. */
  seal: string;
  /** When the group was sealed. */
  time: string;
  /** Whether the events of the group have expired. Its seal remains. */
  expired: boolean;
  /** The events in the order of their numbers: for each the values of 13 fields, each followed by a line feed. */
  events: string[];
};

export type NewWebhook = {
  /** Unique identifier assigned on creation. */
  id?: number;
  /** Where events are sent: an HTTPS URL with a public address, without a user name, a password or a fragment. It is stored in its parsed form. */
  url: string;
  /** The types of events to send; `order.*` means all types that start with `order.`. The API key needs the scopes of all of them. Null means all events that the key may read. Every webhook also gets `log.restored`. */
  types?: string[] | null;
  /** What the webhook is for. */
  description?: string;
  /** Whether events are sent. Events that happen while it is false are sent later. Default: `true`. */
  enabled?: boolean;
  /** The ID of the API key that created the webhook. The webhook works only while that key works. */
  createdBy?: number;
  /** Why the service disabled the webhook; null if it did not. */
  disabledReason?: string | null;
  /** When the webhook was disabled. */
  disabledAt?: string | null;
  /** When the first attempt after the last success failed. Test events do not count. A new `url`, or enabling the webhook, clears it. */
  failingSince?: string | null;
  /** When the webhook was created. */
  createdAt?: string;
};

export type CreatedWebhook = {
  /** Unique identifier assigned on creation. */
  id: number;
  /** Where events are sent: an HTTPS URL with a public address, without a user name, a password or a fragment. It is stored in its parsed form. */
  url: string;
  /** The types of events to send; `order.*` means all types that start with `order.`. The API key needs the scopes of all of them. Null means all events that the key may read. Every webhook also gets `log.restored`. */
  types: string[] | null;
  /** What the webhook is for. */
  description?: string;
  /** Whether events are sent. Events that happen while it is false are sent later. */
  enabled: boolean;
  /** The ID of the API key that created the webhook. The webhook works only while that key works. */
  createdBy: number;
  /** Why the service disabled the webhook; null if it did not. */
  disabledReason: string | null;
  /** When the webhook was disabled. */
  disabledAt: string | null;
  /** When the first attempt after the last success failed. Test events do not count. A new `url`, or enabling the webhook, clears it. */
  failingSince: string | null;
  /** When the webhook was created. */
  createdAt: string;
  /** The key for signatures (Standard Webhooks): `whsec_` and base64. It is shown only in this response; a repeated request with the same `Idempotency-Key` does not return it. */
  secret?: string;
};

export type WebhookPatch = {
  /** Unique identifier assigned on creation. */
  id?: number;
  /** Where events are sent: an HTTPS URL with a public address, without a user name, a password or a fragment. It is stored in its parsed form. */
  url?: string;
  /** The types of events to send; `order.*` means all types that start with `order.`. The API key needs the scopes of all of them. Null means all events that the key may read. Every webhook also gets `log.restored`. */
  types?: string[] | null;
  /** What the webhook is for. */
  description?: string | null;
  /** Whether events are sent. Events that happen while it is false are sent later. */
  enabled?: boolean;
  /** The ID of the API key that created the webhook. The webhook works only while that key works. */
  createdBy?: number;
  /** Why the service disabled the webhook; null if it did not. */
  disabledReason?: string | null;
  /** When the webhook was disabled. */
  disabledAt?: string | null;
  /** When the first attempt after the last success failed. Test events do not count. A new `url`, or enabling the webhook, clears it. */
  failingSince?: string | null;
  /** When the webhook was created. */
  createdAt?: string;
};

export type SecretRotation = {
  /** How long messages are also signed with the earlier secret, in seconds; 0 ends that at once. Default: `86400`. */
  graceSeconds?: number;
};

export type RotatedWebhook = {
  /** Unique identifier assigned on creation. */
  id: number;
  /** Where events are sent: an HTTPS URL with a public address, without a user name, a password or a fragment. It is stored in its parsed form. */
  url: string;
  /** The types of events to send; `order.*` means all types that start with `order.`. The API key needs the scopes of all of them. Null means all events that the key may read. Every webhook also gets `log.restored`. */
  types: string[] | null;
  /** What the webhook is for. */
  description?: string;
  /** Whether events are sent. Events that happen while it is false are sent later. */
  enabled: boolean;
  /** The ID of the API key that created the webhook. The webhook works only while that key works. */
  createdBy: number;
  /** Why the service disabled the webhook; null if it did not. */
  disabledReason: string | null;
  /** When the webhook was disabled. */
  disabledAt: string | null;
  /** When the first attempt after the last success failed. Test events do not count. A new `url`, or enabling the webhook, clears it. */
  failingSince: string | null;
  /** When the webhook was created. */
  createdAt: string;
  /** Until this time messages are also signed with the earlier secret. */
  earlierSecretExpiresAt: string;
  /** The key for signatures (Standard Webhooks): `whsec_` and base64. It is shown only in this response; a repeated request with the same `Idempotency-Key` does not return it. */
  secret?: string;
};

export type WebhookAttempt = {
  /** 1 for the first attempt of the delivery. */
  number: number;
  /** When the attempt started. */
  startedAt: string;
  /** How long the attempt took, in milliseconds. */
  durationMs: number;
  /** The status of the response; null if there was none. */
  status: number | null;
  /** Why the attempt failed; null if it succeeded. */
  error: string | null;
  /** The first 1,024 bytes of the body of the response; null if there was none. */
  responseStart: string | null;
};

export type WebhookDeliveryDetails = {
  /** Unique identifier of the delivery. */
  id: number;
  /** The webhook. */
  webhookId: number;
  /** The `webhook-id` header. It is the same each time this event is sent to this webhook. */
  messageId: string;
  /** The `id` of the event in the log. */
  eventId: string;
  /** The type of the event. */
  type: string;
  /** The resource that changed. Events of one subject are delivered in order. */
  subject: string;
  /** A `dead` delivery failed in all its attempts, its webhook was disabled for as many days as events are retained, or the key of the webhook may no longer read its event. It can be redelivered while the webhook is enabled and its key may read the event. */
  status: 'pending' | 'delivered' | 'dead';
  /** The number of attempts. */
  attemptCount: number;
  /** When the next attempt is due, unless the webhook is disabled; null while the delivery is being sent, waits for an earlier delivery of its subject, or is finished. */
  nextAttemptAt: string | null;
  /** When the delivery was created. */
  createdAt: string;
  /** When it was delivered or became `dead`. */
  finishedAt: string | null;
  /** The last 100 attempts, oldest first. */
  attempts: WebhookAttempt[];
};

export type NewReplay = {
  /** The `id` of an event, `latest`, or, while no event has expired, `0` for the start of the log. */
  cursor: string;
};

export type Health = {
  /** Always `ok`; the HTTP status shows problems. */
  status: 'ok';
};

export type Readiness = {
  /** `degraded`: requests are served, but `message` names problems. */
  status: 'ok' | 'degraded';
  /** The problems and their consequences, separated by `; `. */
  message?: string;
};

/** The codes of errors. Later releases may add some: treat an unknown one by its status. */
export type ErrorCode =
  /** A part of the request breaks a rule; the message states the part, the rule and the value that was sent. */
  | 'invalid_request'
  /** The requested API-Version does not exist; send 1 or omit the header. */
  | 'unsupported_api_version'
  /** No resource exists at this path. */
  | 'route_not_found'
  /** The path exists, but not with this method; the Allow header lists its methods. */
  | 'method_not_allowed'
  /** The service does not know the method; the message lists those that it knows. */
  | 'method_not_implemented'
  /** The Accept header excludes JSON, the only media type of the response. */
  | 'not_acceptable'
  /** The body is over 64 KiB, or over 1 MiB for a batch. */
  | 'payload_too_large'
  /** The request target is over 8 KiB. */
  | 'uri_too_long'
  /** The request line and headers together are over 16 KiB. */
  | 'headers_too_large'
  /** The operation does not support the media type of the body. */
  | 'unsupported_media_type'
  /** The complete request did not arrive in time; send it again. */
  | 'request_timeout'
  /** The operation needs an API key: send it as X-API-Key or as a Bearer token. */
  | 'missing_api_key'
  /** The API key is mistyped, unknown, expired or revoked; the message states what is known about it. */
  | 'invalid_api_key'
  /** The API key lacks the scope that the message names; ask an administrator to add it. */
  | 'insufficient_scope'
  /** No publishable key lists the origin of the page, or the key of the request does not; ask an administrator to add it. */
  | 'origin_not_allowed'
  /** The API key cannot be used from the address of the client; ask an administrator to add the address to its networks. */
  | 'address_not_allowed'
  /** The requests of the minute or of the day are used up; wait for the time in Retry-After, or request a larger plan. */
  | 'rate_limit_exceeded'
  /** The API key is banned, because it kept sending requests after it was rejected; wait for the time in Retry-After. */
  | 'api_key_banned'
  /** The resource has changed since the ETag in If-Match, or has no ETag, or one that If-None-Match excludes. */
  | 'precondition_failed'
  /** The Idempotency-Key was used with another request; send a new one. */
  | 'idempotency_key_reused'
  /** The first request with this Idempotency-Key is still running; send the request again shortly. */
  | 'idempotency_key_in_use'
  /** No pet has this ID. */
  | 'pet_not_found'
  /** No category has this ID. */
  | 'category_not_found'
  /** No order has this ID. */
  | 'order_not_found'
  /** The body names a category that does not exist. */
  | 'unknown_category'
  /** The body names a pet that does not exist. */
  | 'unknown_pet'
  /** Another category has this name (upper and lower case count as equal). */
  | 'category_name_taken'
  /** Pets belong to the category; move or delete them first. */
  | 'category_in_use'
  /** Open orders reserve units of the pet; complete or cancel them first. */
  | 'pet_has_open_orders'
  /** The pet cannot be ordered: it is on hold or sold. */
  | 'pet_not_available'
  /** Fewer units are in stock than the order or the adjustment takes. */
  | 'insufficient_stock'
  /** The units would raise the stock above 2,147,483,647; lower it first. */
  | 'stock_limit_exceeded'
  /** The pet has no stock; raise its quantity under /store/inventory instead of its status. */
  | 'out_of_stock'
  /** A sold pet cannot be put on hold; restock it first. */
  | 'invalid_status_transition'
  /** A draft order cannot be completed; give it a petId first. */
  | 'order_has_no_pet'
  /** The order is complete: only its shipDate can still change, and it cannot be deleted. */
  | 'order_already_complete'
  /** No API key has this ID. */
  | 'api_key_not_found'
  /** The API key was revoked and cannot be changed; create another. */
  | 'api_key_revoked'
  /** No plan request has this ID; to the holder of a key, the requests of other keys do not exist. */
  | 'plan_request_not_found'
  /** The API key has an open plan request; wait until an administrator has decided. */
  | 'plan_request_open'
  /** The plan request was approved or declined before; change the plan of the key instead. */
  | 'plan_request_decided'
  /** No other administrator's key is valid for as long; create another one first. */
  | 'last_admin_key'
  /** The events after this cursor are deleted; the message states the oldest cursor. */
  | 'cursor_expired'
  /** A restore of the service removed the event of this cursor; the message states the cursor to continue with. */
  | 'log_restored'
  /** The API key has the maximum number of open streams; end one, or wait for the time in Retry-After. */
  | 'too_many_streams'
  /** No webhook has this ID. */
  | 'webhook_not_found'
  /** The webhook has no delivery with this ID. */
  | 'delivery_not_found'
  /** The webhook is disabled and receives nothing; enable it first. */
  | 'webhook_disabled'
  /** The key of the webhook is no longer valid or lacks a scope; change it, or create the webhook with another key. */
  | 'webhook_key_unfit'
  /** The API key has the maximum number of webhooks; delete one, or change one instead. */
  | 'too_many_webhooks'
  /** An earlier replay of the webhook is running; wait until it ends, or end it with a replay from the cursor latest. */
  | 'replay_in_progress'
  /** The operation was withdrawn at its sunset date; the message names its successor. */
  | 'operation_sunset'
  /** The service failed; its log has the reason under the request ID in the message. */
  | 'internal_error'
  /** The address or the service has the maximum number of open connections; use fewer, or wait for the time in Retry-After. */
  | 'too_many_connections'
  /** The service cannot reach its database, or the response took too long; wait for the time in Retry-After. */
  | 'service_unavailable';

/** The operations of the contract: what they take, and what they return. */
export interface Operations {
  /** List pets */
  'GET /pets': {
    query: {
      /** Pets whose names have all of these words, in any order; at most 8. A word also finds longer words that start with it, without regard to case and accents: `ecl` finds `Éclair`. Words from 5 letters find words with one typing error, and words from 9 letters with two. Exact matches come first, then longer words, then matches with errors; each by name. Of the other filters, it combines with `status` and `categoryId`. */
      q?: string | undefined;
      /** Pets with one of these IDs. Repeat the parameter for each ID, or separate them by commas. Of the other filters, it combines with `status`, `categoryId` and `name`. */
      id?: number | readonly number[] | undefined;
      /** Pets with one of these statuses. Repeat the parameter for each status, or separate them by commas. Of the other filters, it combines with `q` and `categoryId`, or with `id`, `categoryId` and `name`. */
      status?: PetStatus | readonly PetStatus[] | undefined;
      /** Pets of this category. Of the other filters, it combines with `q` and `status`, or with `id`, `status` and `name`. */
      categoryId?: number | undefined;
      /** Pets whose name starts with this text, without regard to case. Of the other filters, it combines with `id`, `status` and `categoryId`. */
      name?: string | undefined;
      /** The order of the list; a leading `-` means descending. The default is `id`. A list that is filtered by `name` can only be sorted by `name` or `-name`; its default is `name`. A search with `q` has no `sort`. */
      sort?: 'id' | '-id' | 'name' | '-name' | undefined;
      /** The maximum number of items on a page. The default is 20, or the number of IDs in `id`. */
      limit?: number | undefined;
      /** The start of the page, from the `Link` header of the previous page. */
      cursor?: string | undefined;
      /** Whether to count the whole list, in the header `X-Total-Count`. More than 10,000 items are not counted: the header is then 10000, and `X-Total-Count-Relation: gte` states that there are more. */
      count?: boolean | undefined;
    };
    result: Pets;
  };
  /** Create a pet */
  'POST /pets': {
    body: NewPet;
    result: StoredPet;
  };
  /** Read a pet. @deprecated It ends on 2030-12-05. */
  'GET /pets/{petId}': {
    path: {
      /** The pet. */
      petId: number;
    };
    result: StoredPet;
  };
  /** Replace a pet */
  'PUT /pets/{petId}': {
    path: {
      /** The pet. */
      petId: number;
    };
    body: NewPet;
    result: StoredPet;
  };
  /** Change a pet */
  'PATCH /pets/{petId}': {
    path: {
      /** The pet. */
      petId: number;
    };
    body: PetPatch;
    result: StoredPet;
  };
  /** Delete a pet */
  'DELETE /pets/{petId}': {
    path: {
      /** The pet. */
      petId: number;
    };
    result: undefined;
  };
  /** List categories */
  'GET /categories': {
    query: {
      /** Categories whose name starts with this text, without regard to case. */
      name?: string | undefined;
      /** The order of the list; a leading `-` means descending. The default is `id`. A list that is filtered by `name` can only be sorted by `name` or `-name`; its default is `name`. */
      sort?: 'id' | '-id' | 'name' | '-name' | undefined;
      /** The maximum number of items on a page. */
      limit?: number | undefined;
      /** The start of the page, from the `Link` header of the previous page. */
      cursor?: string | undefined;
      /** Whether to count the whole list, in the header `X-Total-Count`. More than 10,000 items are not counted: the header is then 10000, and `X-Total-Count-Relation: gte` states that there are more. */
      count?: boolean | undefined;
    };
    result: Category[];
  };
  /** Create a category */
  'POST /categories': {
    body: NewCategory;
    result: Category;
  };
  /** Read a category */
  'GET /categories/{categoryId}': {
    path: {
      /** The category. */
      categoryId: number;
    };
    result: Category;
  };
  /** Replace a category */
  'PUT /categories/{categoryId}': {
    path: {
      /** The category. */
      categoryId: number;
    };
    body: NewCategory;
    result: Category;
  };
  /** Change a category */
  'PATCH /categories/{categoryId}': {
    path: {
      /** The category. */
      categoryId: number;
    };
    body: CategoryPatch;
    result: Category;
  };
  /** Delete a category */
  'DELETE /categories/{categoryId}': {
    path: {
      /** The category. */
      categoryId: number;
    };
    result: undefined;
  };
  /** List orders */
  'GET /store/orders': {
    query: {
      /** Orders for these pets. Repeat the parameter for each pet, or separate them by commas. */
      petId?: number | readonly number[] | undefined;
      /** Orders that are fulfilled (`true`) or open (`false`). */
      complete?: boolean | undefined;
      /** Orders that ship at this time or later. */
      shipDateFrom?: string | undefined;
      /** Orders that ship before this time. */
      shipDateTo?: string | undefined;
      /** The order of the list; a leading `-` means descending. The default is `id`. A list that is filtered by `shipDateFrom` or `shipDateTo` can only be sorted by `shipDate` or `-shipDate`; its default is `shipDate`. A list without these filters cannot be sorted by `shipDate`. */
      sort?: 'id' | '-id' | 'shipDate' | '-shipDate' | undefined;
      /** The maximum number of items on a page. */
      limit?: number | undefined;
      /** The start of the page, from the `Link` header of the previous page. */
      cursor?: string | undefined;
      /** Whether to count the whole list, in the header `X-Total-Count`. More than 10,000 items are not counted: the header is then 10000, and `X-Total-Count-Relation: gte` states that there are more. */
      count?: boolean | undefined;
    };
    result: StoredOrder[];
  };
  /** Place an order */
  'POST /store/orders': {
    body: Order;
    result: StoredOrder;
  };
  /** Read an order */
  'GET /store/orders/{orderId}': {
    path: {
      /** The order. */
      orderId: number;
    };
    result: StoredOrder;
  };
  /** Replace an order */
  'PUT /store/orders/{orderId}': {
    path: {
      /** The order. */
      orderId: number;
    };
    body: Order;
    result: StoredOrder;
  };
  /** Change or complete an order */
  'PATCH /store/orders/{orderId}': {
    path: {
      /** The order. */
      orderId: number;
    };
    body: OrderPatch;
    result: StoredOrder;
  };
  /** Cancel an order */
  'DELETE /store/orders/{orderId}': {
    path: {
      /** The order. */
      orderId: number;
    };
    result: undefined;
  };
  /** List stock */
  'GET /store/inventory': {
    query: {
      /** Entries of these pets. Repeat the parameter for each pet, or separate them by commas. */
      petId?: number | readonly number[] | undefined;
      /** Entries of pets with one of these statuses. Repeat the parameter for each status, or separate them by commas. */
      status?: PetStatus | readonly PetStatus[] | undefined;
      /** Entries of pets of this category. */
      categoryId?: number | undefined;
      /** Entries with fewer units than this. */
      quantityBelow?: number | undefined;
      /** The order of the list; a leading `-` means descending. The default is `petId`. A list that is filtered by `quantityBelow` can only be sorted by `quantity` or `-quantity`; its default is `quantity`. */
      sort?: 'petId' | '-petId' | 'quantity' | '-quantity' | undefined;
      /** The maximum number of items on a page. The default is 20, or the number of IDs in `petId`. */
      limit?: number | undefined;
      /** The start of the page, from the `Link` header of the previous page. */
      cursor?: string | undefined;
      /** Whether to count the whole list, in the header `X-Total-Count`. More than 10,000 items are not counted: the header is then 10000, and `X-Total-Count-Relation: gte` states that there are more. */
      count?: boolean | undefined;
    };
    result: InventoryItem[];
  };
  /** Read the stock of a pet */
  'GET /store/inventory/{petId}': {
    path: {
      /** The pet that the entry belongs to. */
      petId: number;
    };
    result: InventoryItem;
  };
  /** Set the stock of a pet */
  'PUT /store/inventory/{petId}': {
    path: {
      /** The pet that the entry belongs to. */
      petId: number;
    };
    body: InventoryUpdate;
    result: InventoryItem;
  };
  /** Change the stock of a pet. @deprecated It ends on 2030-12-05. */
  'PATCH /store/inventory/{petId}': {
    path: {
      /** The pet that the entry belongs to. */
      petId: number;
    };
    body: InventoryUpdate;
    result: InventoryItem;
  };
  /** Add or remove units */
  'POST /store/inventory/{petId}/adjustments': {
    path: {
      /** The pet that the entry belongs to. */
      petId: number;
    };
    body: StockAdjustment;
    result: InventoryItem;
  };
  /** Make several changes in one request */
  'POST /batch': {
    body: Batch;
    result: BatchResults;
  };
  /** Read your own key */
  'GET /account': {
    result: Account;
  };
  /** Request another plan */
  'POST /account/plan-requests': {
    body: NewPlanRequest;
    result: PlanRequest;
  };
  /** Read your own plan request */
  'GET /account/plan-requests/{requestId}': {
    path: {
      /** The plan request. */
      requestId: number;
    };
    result: PlanRequest;
  };
  /** List plan requests */
  'GET /plan-requests': {
    query: {
      /** Requests with this status. It combines with no other filter. */
      status?: 'open' | 'approved' | 'declined' | undefined;
      /** Requests of this API key. It combines with no other filter. */
      keyId?: number | undefined;
      /** The order of the list; a leading `-` means descending. */
      sort?: '-id' | 'id' | undefined;
      /** The maximum number of items on a page. */
      limit?: number | undefined;
      /** The start of the page, from the `Link` header of the previous page. */
      cursor?: string | undefined;
      /** Whether to count the whole list, in the header `X-Total-Count`. More than 10,000 items are not counted: the header is then 10000, and `X-Total-Count-Relation: gte` states that there are more. */
      count?: boolean | undefined;
    };
    result: PlanRequest[];
  };
  /** Read a plan request */
  'GET /plan-requests/{requestId}': {
    path: {
      /** The plan request. */
      requestId: number;
    };
    result: PlanRequest;
  };
  /** Approve a plan request */
  'POST /plan-requests/{requestId}/approve': {
    path: {
      /** The plan request. */
      requestId: number;
    };
    body?: undefined | PlanApproval;
    result: PlanRequest;
  };
  /** Decline a plan request */
  'POST /plan-requests/{requestId}/decline': {
    path: {
      /** The plan request. */
      requestId: number;
    };
    body: PlanRejection;
    result: PlanRequest;
  };
  /** List API keys */
  'GET /keys': {
    query: {
      /** Keys whose name starts with this text, without regard to case. */
      name?: string | undefined;
      /** Keys of this plan. */
      plan?: 'free' | 'pro' | 'business' | 'enterprise' | undefined;
      /** Keys that are revoked (`true`) or not (`false`). */
      revoked?: boolean | undefined;
      /** The order of the list; a leading `-` means descending. The default is `id`. A list that is filtered by `name` can only be sorted by `name` or `-name`; its default is `name`. */
      sort?: 'id' | '-id' | 'name' | '-name' | undefined;
      /** The maximum number of items on a page. */
      limit?: number | undefined;
      /** The start of the page, from the `Link` header of the previous page. */
      cursor?: string | undefined;
      /** Whether to count the whole list, in the header `X-Total-Count`. More than 10,000 items are not counted: the header is then 10000, and `X-Total-Count-Relation: gte` states that there are more. */
      count?: boolean | undefined;
    };
    result: ApiKey[];
  };
  /** Create an API key */
  'POST /keys': {
    body: NewApiKey | NewEnterpriseApiKey;
    result: CreatedApiKey;
  };
  /** Read an API key */
  'GET /keys/{keyId}': {
    path: {
      /** The API key. */
      keyId: number;
    };
    result: ApiKey;
  };
  /** Change an API key */
  'PATCH /keys/{keyId}': {
    path: {
      /** The API key. */
      keyId: number;
    };
    body: ApiKeyPatch;
    result: ApiKey;
  };
  /** Revoke an API key */
  'DELETE /keys/{keyId}': {
    path: {
      /** The API key. */
      keyId: number;
    };
    result: undefined;
  };
  /** Rotate the secret of an API key */
  'POST /keys/{keyId}/rotate': {
    path: {
      /** The API key. */
      keyId: number;
    };
    body?: undefined | Rotation;
    result: RotatedApiKey;
  };
  /** Lift the ban of an API key */
  'DELETE /keys/{keyId}/ban': {
    path: {
      /** The API key. */
      keyId: number;
    };
    result: undefined;
  };
  /** Reset the limits of an API key */
  'DELETE /keys/{keyId}/limits': {
    path: {
      /** The API key. */
      keyId: number;
    };
    result: undefined;
  };
  /** List API keys by their requests of today */
  'GET /key-usage': {
    query: {
      /** The maximum number of keys. */
      limit?: number | undefined;
    };
    result: BusiestKeys;
  };
  /** Read the usage of an API key */
  'GET /keys/{keyId}/usage': {
    path: {
      /** The API key. */
      keyId: number;
    };
    result: KeyUsage;
  };
  /** Revoke leaked API keys */
  'POST /keys/revoke-leaked': {
    body: LeakReport;
    result: LeakReceipt;
  };
  /** Read the log of events */
  'GET /events': {
    query: {
      /** Events of these types; `order.*` means all types that start with `order.`. Repeat the parameter for each type, or separate them by commas. */
      type?: string | readonly string[] | undefined;
      /** Events of this subject, such as `pets/1` or `store/orders/17`. */
      subject?: string | undefined;
      /** Changes that this API key made, such as `keys/2`, or the service and its operators (`system`). */
      actor?: string | undefined;
      /** The `id` of an event: the list starts after it. `latest` means the end of the log. Without a cursor the list starts with the oldest event in the log. */
      cursor?: string | undefined;
      /** Events from this time on. IDs are in the order of time, except where concurrent changes or a clock that was set back swapped them: the list starts at the first event of this time. */
      from?: string | undefined;
      /** Events before this time. Changes are recorded shortly after they are made: when this time is at least a minute in the past, the list has an end, and its last page has no `Link`. Periods that adjoin have no event in common, and none is missing between them. */
      to?: string | undefined;
      /** The maximum number of events on a page. */
      limit?: number | undefined;
      /** Whether to count the whole list, in the header `X-Total-Count`. More than 10,000 items are not counted: the header is then 10000, and `X-Total-Count-Relation: gte` states that there are more. It does not combine with `subject` and `actor` together. */
      count?: boolean | undefined;
      /** How many seconds to wait for an event if none exists yet. */
      wait?: number | undefined;
    };
    result: Event[];
  };
  /** Follow the log of events */
  'GET /events/stream': {
    query: {
      /** Events of these types; `order.*` means all types that start with `order.`. Repeat the parameter for each type, or separate them by commas. */
      type?: string | readonly string[] | undefined;
      /** Events of this subject, such as `pets/1` or `store/orders/17`. */
      subject?: string | undefined;
      /** Changes that this API key made, such as `keys/2`, or the service and its operators (`system`). */
      actor?: string | undefined;
      /** The `id` of an event: the stream starts after it. The header `Last-Event-ID` takes precedence. Without both the stream starts with the next event. */
      cursor?: string | undefined;
    };
    result: string;
  };
  /** Read who changed what */
  'GET /history': {
    query: {
      /** Events of these types; `order.*` means all types that start with `order.`. Repeat the parameter for each type, or separate them by commas. */
      type?: string | readonly string[] | undefined;
      /** Events of this subject, such as `pets/1` or `store/orders/17`. */
      subject?: string | undefined;
      /** Changes that this API key made, such as `keys/2`, or the service and its operators (`system`). */
      actor?: string | undefined;
      /** With a `subject` that is a pet: also the changes of its stock and of its orders, as far as the key may read them. */
      related?: boolean | undefined;
      /** Changes from this time on. */
      from?: string | undefined;
      /** Changes before this time. */
      to?: string | undefined;
      /** The maximum number of changes on a page. */
      limit?: number | undefined;
      /** The cursor of the next page, from the header `Link`. The list continues with earlier changes. */
      cursor?: string | undefined;
    };
    result: HistoryEntry[];
  };
  /** Read the newest seal of the log */
  'GET /events/checkpoint': {
    result: Checkpoint;
  };
  /** Read the sealed log */
  'GET /events/seals': {
    query: {
      /** The maximum number of groups on a page. */
      limit?: number | undefined;
      /** The `id` of an event: the list has the groups that end after it. Without a cursor it starts with the first. */
      cursor?: string | undefined;
    };
    result: SealedGroup[];
  };
  /** List webhooks */
  'GET /webhooks': {
    query: {
      /** The order of the list; a leading `-` means descending. */
      sort?: 'id' | '-id' | undefined;
      /** The maximum number of items on a page. */
      limit?: number | undefined;
      /** The start of the page, from the `Link` header of the previous page. */
      cursor?: string | undefined;
      /** Whether to count the whole list, in the header `X-Total-Count`. More than 10,000 items are not counted: the header is then 10000, and `X-Total-Count-Relation: gte` states that there are more. */
      count?: boolean | undefined;
    };
    result: Webhook[];
  };
  /** Create a webhook */
  'POST /webhooks': {
    body: NewWebhook;
    result: CreatedWebhook;
  };
  /** Read a webhook */
  'GET /webhooks/{webhookId}': {
    path: {
      /** The webhook. */
      webhookId: number;
    };
    result: Webhook;
  };
  /** Replace a webhook */
  'PUT /webhooks/{webhookId}': {
    path: {
      /** The webhook. */
      webhookId: number;
    };
    body: NewWebhook;
    result: Webhook;
  };
  /** Change a webhook */
  'PATCH /webhooks/{webhookId}': {
    path: {
      /** The webhook. */
      webhookId: number;
    };
    body: WebhookPatch;
    result: Webhook;
  };
  /** Delete a webhook */
  'DELETE /webhooks/{webhookId}': {
    path: {
      /** The webhook. */
      webhookId: number;
    };
    result: undefined;
  };
  /** Rotate the secret of a webhook */
  'POST /webhooks/{webhookId}/rotate': {
    path: {
      /** The webhook. */
      webhookId: number;
    };
    body?: undefined | SecretRotation;
    result: RotatedWebhook;
  };
  /** Send a test event */
  'POST /webhooks/{webhookId}/test': {
    path: {
      /** The webhook. */
      webhookId: number;
    };
    result: WebhookDelivery;
  };
  /** List the deliveries of a webhook */
  'GET /webhooks/{webhookId}/deliveries': {
    path: {
      /** The webhook. */
      webhookId: number;
    };
    query: {
      /** Deliveries with this status. */
      status?: 'pending' | 'delivered' | 'dead' | undefined;
      /** The order of the list; a leading `-` means descending. */
      sort?: '-id' | 'id' | undefined;
      /** The maximum number of items on a page. */
      limit?: number | undefined;
      /** The start of the page, from the `Link` header of the previous page. */
      cursor?: string | undefined;
      /** Whether to count the whole list, in the header `X-Total-Count`. More than 10,000 items are not counted: the header is then 10000, and `X-Total-Count-Relation: gte` states that there are more. */
      count?: boolean | undefined;
    };
    result: WebhookDelivery[];
  };
  /** Read a delivery */
  'GET /webhooks/{webhookId}/deliveries/{deliveryId}': {
    path: {
      /** The webhook. */
      webhookId: number;
      /** The delivery. */
      deliveryId: number;
    };
    result: WebhookDeliveryDetails;
  };
  /** Redeliver a delivery */
  'POST /webhooks/{webhookId}/deliveries/{deliveryId}/redeliver': {
    path: {
      /** The webhook. */
      webhookId: number;
      /** The delivery. */
      deliveryId: number;
    };
    result: WebhookDelivery;
  };
  /** Replay events after a cursor */
  'POST /webhooks/{webhookId}/replay': {
    path: {
      /** The webhook. */
      webhookId: number;
    };
    body: NewReplay;
    result: Replay;
  };
  /** Is the process alive? */
  'GET /healthz': {
    result: Health;
  };
  /** Is the service ready? */
  'GET /readyz': {
    result: Readiness;
  };
  /** The contract in YAML */
  'GET /openapi.yaml': {
    result: string;
  };
  /** The contract in JSON */
  'GET /openapi.json': {
    result: Record<string, unknown>;
  };
}
