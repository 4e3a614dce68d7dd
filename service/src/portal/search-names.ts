import {
  CHANGELOG_URL,
  CLIENT_URL,
  COMMAND_URL,
  chapterUrl,
  ERRORS_URL,
  EVENTS_URL,
  operationUrl,
  resourceUrl,
  STATUS_URL,
} from './urls.ts';

/** What developers call the subjects of pages, where the pages have other words for them. The search finds the pages by both. */
export const otherNames: ReadonlyMap<string, string> = new Map([
  [
    CLIENT_URL,
    'sdk, library, package, npm, node, deno, bun, mock server, fake service for unit tests, sandbox',
  ],
  [CHANGELOG_URL, "change log, what's new, release notes, releases, news, breaking changes"],
  [STATUS_URL, 'is the api down, outage, uptime, incident, service status, health check, unavailable'],
  [COMMAND_URL, 'cli, command line tool, terminal, shell, export csv, tunnel to localhost, local webhooks'],
  [ERRORS_URL, 'list of error codes, all errors, status codes'],
  [
    EVENTS_URL,
    'event types, which events exist, events to subscribe to, event names, list of events, payload of an event, event schema',
  ],
  [
    chapterUrl('Quickstart'),
    'getting started, tutorial, hello world, introduction, first request, first order, curl example, base url, buy a pet, demo, sandbox, time zone, date format, large ids, bigint, size of a body',
  ],
  [
    chapterUrl('Authentication'),
    'get an api key, auth, login, credentials, token, bearer, where to put the key, which header has the key, key is rejected, not allowed, access denied, oauth, permissions, list of scopes, roles, access rights, X-API-Key header',
  ],
  [
    chapterUrl('Publishable keys'),
    'public key, key in frontend code, client-side key, key in a web page, allowed origins',
  ],
  [
    chapterUrl('Leaked keys'),
    'stolen key, compromised key, exposed key on github, secret scanning, key in a repository',
  ],
  [
    chapterUrl('Limits'),
    'rate limit, quota, throttling, requests per minute, requests per day, plans, pricing, free, pro, business, enterprise, what counts as a request, largest request, maximum size',
  ],
  [
    chapterUrl('A larger plan'),
    'upgrade a plan, upgrade to pro, request a plan, higher limits, more requests, raise a quota, price',
  ],
  [
    chapterUrl('Warnings'),
    'quota alert, almost used up, usage notification, key expires soon, expiry reminder, 80 percent',
  ],
  [
    chapterUrl('Headers'),
    'response headers, request headers, request id, correlation id, trace a request, support ticket, X-RateLimit-Remaining, content type, compression, gzip',
  ],
  [chapterUrl('Bans'), 'banned, blocked, unban, suspended key, too many requests'],
  [chapterUrl('Backing off'), 'exponential backoff, retry after, when to retry, jitter, 429, 503, timeout'],
  [
    chapterUrl('Going live'),
    'go to production, checklist, best practices, before launch, deploy, ready for customers, monitoring',
  ],
  [
    chapterUrl('Errors'),
    'error handling, error format, exceptions, failures, problem details, body of an error',
  ],
  [
    chapterUrl('Paging'),
    'pagination, paginate, next page, page size, per page, offset, cursor, get all, total count, sort, sorting, order by, filters',
  ],
  [chapterUrl('Search'), 'full text search, find by name, autocomplete, query, like, fuzzy, filter by name'],
  [
    chapterUrl('Safe retries'),
    'idempotency key, idempotent, duplicates, retry a post, twice, exactly once, timeout, did it go through, double submit',
  ],
  [
    chapterUrl('Conditional requests'),
    'etag, if-match, if-none-match, 304 not modified, 412, caching, optimistic locking, concurrency, lost updates, concurrent edits, two people edit at the same time, race',
  ],
  [
    chapterUrl('Restocking'),
    'increase stock, replenish, receive a delivery of animals, goods received, adjust inventory, increment quantity, decrement',
  ],
  [
    chapterUrl('Batches'),
    'bulk insert, create many at once, multiple operations in one request, atomic, transaction, all or nothing',
  ],
  [chapterUrl('Import a file'), 'csv, excel, spreadsheet, upload, catalogue, migrate, bulk load'],
  [
    chapterUrl('Recipes'),
    'examples, code samples, how to, sync my database, synchronize, replicate, mirror, copy all data, show stock on a website',
  ],
  [
    chapterUrl('Versions and deprecation'),
    'versioning, api version header, breaking changes, compatibility, sunset, going away, removed, obsolete, stability, experimental, beta',
  ],
  [
    chapterUrl('Events'),
    'changes in real time, server-sent events, sse, eventsource, websocket, polling, listen, notifications, order of events, audit log',
  ],
  [
    chapterUrl('Webhooks'),
    'callback, notify, notification, push, verify a signature, hmac, secret, retries, failed deliveries, disabled, turned off, stopped, subscribe, delivered in order, received twice, same event again',
  ],
  [
    chapterUrl('Generate a client'),
    'openapi file, swagger, code generator, codegen, python, java, kotlin, ruby, rust, csharp, .net, php, postman',
  ],
  [chapterUrl('Agents'), 'mcp server, ai, llm, claude, chatgpt, copilot, assistant, tools'],
  [
    chapterUrl('Managing keys'),
    'create an api key, new key, key expiry, expiration date, rotate, revoke, key administration, ip allowlist, restrict a key to networks',
  ],
  [
    chapterUrl('Use the API from a browser'),
    'cors, frontend, javascript in a web page, website, react, single-page app, preflight, fetch',
  ],
  [operationUrl('listPets'), 'get all pets, products, filter by status, sort, find a pet, pet by id'],
  [operationUrl('createPet'), 'add a pet, new pet, new product'],
  [
    operationUrl('changePet'),
    'partial update, mark a pet as sold, set status, put on hold, edit, rename a pet',
  ],
  [
    operationUrl('placeOrder'),
    'buy, purchase, checkout, create an order, new order, sell a pet, reserve a pet, sell over the counter',
  ],
  [operationUrl('cancelOrder'), 'refund, return an order, undo an order, release a reservation'],
  [
    operationUrl('changeOrder'),
    'mark an order as shipped, fulfil, fulfilled, delivered, picked up, collected, finish, ship date, change quantity',
  ],
  [
    operationUrl('listOrders'),
    'all orders, my orders, filter orders by ship date, open orders, order history',
  ],
  [operationUrl('listInventory'), 'low stock, how many in stock, stock levels, quantities'],
  [operationUrl('getInventoryItem'), 'how many are left, quantity in stock, availability'],
  [operationUrl('setStock'), 'set the inventory quantity, correct a count, stocktaking'],
  [operationUrl('adjustStock'), 'increase stock, decrease stock, increment, decrement, restock'],
  [
    operationUrl('getAccount'),
    'whoami, current user, me, quota left, remaining requests, my scopes, my plan',
  ],
  [operationUrl('getBusiestApiKeys'), 'top clients, which client makes the most requests, statistics'],
  [operationUrl('getApiKeyUsage'), 'statistics, requests per key, metering'],
  [operationUrl('liftBan'), 'unban, unblock'],
  [operationUrl('changeApiKey'), 'upgrade a plan, custom quota, change scopes'],
  [operationUrl('createApiKey'), 'get an api key, new key'],
  [operationUrl('listHistory'), 'audit log, audit trail, who changed it, activity'],
  [operationUrl('streamEvents'), 'server-sent events, sse, eventsource, websocket, real time, live'],
  [operationUrl('replayWebhook'), 'missed events, send again, resend many'],
  [operationUrl('redeliverWebhookDelivery'), 'resend a failed delivery, retry a delivery'],
  [operationUrl('listWebhookDeliveries'), 'failed deliveries, delivery log, debug a webhook'],
  [operationUrl('testWebhook'), 'ping a webhook, try a webhook'],
  [operationUrl('getHealth'), 'health check, liveness probe, kubernetes, uptime'],
  [operationUrl('getReadiness'), 'readiness probe, kubernetes, load balancer, degraded'],
  [operationUrl('getContractAsYaml'), 'openapi file, swagger, schema, specification'],
  [operationUrl('getContractAsJson'), 'openapi file, swagger, schema, specification'],
  [resourceUrl('Inventory'), 'stock, warehouse'],
]);
