import { operationNames } from './operation-names.ts';
import {
  CHANGELOG_URL,
  CLIENT_URL,
  COMMAND_URL,
  chapterUrl,
  ERRORS_URL,
  EVENTS_URL,
  errorUrl,
  operationUrl,
  RUNNING_URL,
  resourceUrl,
  runningUrl,
  STATUS_URL,
  sectionUrl,
} from './urls.ts';

type Names = Readonly<Record<string, string>>;

/** By the URL of the page. */
const ofPages: Names = {
  [CLIENT_URL]:
    'sdk, library, package, npm, node, deno, bun, mock server, fake service for unit tests, sandbox, javascript client, typescript client, install the client, npm install, types, typed, automatic retries, does the client retry',
  [CHANGELOG_URL]:
    "change log, what's new, release notes, releases, news, breaking changes, version history, recent changes, new features, what changed in a release",
  [STATUS_URL]:
    'is the api down, outage, uptime, incident, service status, health check, unavailable, down right now, maintenance, health, degraded',
  [RUNNING_URL]:
    'self-host, host it myself, run my own instance, install the service, deploy the service, run it in docker, operate, administer the server',
  [COMMAND_URL]:
    'cli, command line tool, terminal, shell, export csv, tunnel to localhost, local webhooks, install the command, download csv, script, cron job, cli login, log in from a terminal',
  [ERRORS_URL]:
    'list of error codes, all errors, status codes, meaning of an error code, http status, reference of errors',
  [EVENTS_URL]:
    'event types, which events exist, events to subscribe to, event names, list of events, payload of an event, event schema, names of events, kinds of events, example of an event',
  [resourceUrl('Inventory')]: 'stock, warehouse',
  [`${CLIENT_URL}#tests-without-a-server`]:
    'mock, unit tests, fake server, in memory, stub, offline tests, test double',
  [`${CLIENT_URL}#events`]: 'follow events in typescript, async iterator, listen to changes',
  [`${COMMAND_URL}#webhooks-on-your-machine`]:
    'local webhooks, webhooks on localhost, ngrok, tunnel, develop webhooks, listen',
  [`${COMMAND_URL}#import-and-export`]:
    'csv export, download all pets, backup of the catalogue, upload csv, spreadsheet',
  [`${COMMAND_URL}#output`]: 'json output, jq, machine readable, exit codes, table, quiet',
  [`${COMMAND_URL}#completion`]: 'autocomplete, tab completion, bash, zsh, fish',
  [`${COMMAND_URL}#any-request`]: 'raw request, curl instead, call any endpoint',
};

/** By the title of the chapter of the guide. */
const ofChapters: Names = {
  Quickstart:
    'getting started, tutorial, hello world, introduction, first request, first order, curl example, base url, buy a pet, demo, sandbox, time zone, date format, large ids, bigint, size of a body, start here, url of the service, environment variables, utc, date time, number precision, json',
  Authentication:
    'get an api key, auth, login, credentials, token, bearer, where to put the key, which header has the key, key is rejected, not allowed, access denied, oauth, permissions, list of scopes, roles, access rights, X-API-Key header, authenticate, sign in, jwt, 401 unauthorized, 403 forbidden, missing key, invalid key, wrong key, api key in the url, send the key',
  'Publishable keys':
    'public key, key in frontend code, client-side key, key in a web page, allowed origins, is it safe to show a key, key in mobile app, embed a key, browser key, restrict a key to a domain',
  'Leaked keys':
    'stolen key, compromised key, exposed key on github, secret scanning, key in a repository, key committed to git, key in a log, accidentally published a key, report a leak, revoke leaked secret, token in a public repository, found a secret, regular expression for keys, pattern of a key',
  Limits:
    'rate limit, quota, throttling, requests per minute, requests per day, plans, pricing, free, pro, business, enterprise, what counts as a request, largest request, maximum size, number of calls, how many requests, calls per second, daily limit, minute limit, reset of the day, midnight, failed requests count, several clients with one key, concurrent connections, shared key, processes',
  'A larger plan':
    'upgrade a plan, upgrade to pro, request a plan, higher limits, more requests, raise a quota, price, change plan, switch plan, subscription, enterprise quota, need more requests, increase the limit, upgrade request, billing, more calls, plan is too small, go from free to pro, customer wants a larger plan',
  Warnings:
    'quota alert, almost used up, usage notification, key expires soon, expiry reminder, 80 percent, alert before the limit, notice, email, approaching the limit, running out of requests, warn me, before the key expires, about to expire',
  Headers:
    'response headers, request headers, request id, correlation id, trace a request, support ticket, X-RateLimit-Remaining, content type, compression, gzip, remaining requests in headers, reset header, X-RateLimit-Reset, unix time, support, http headers',
  Bans: 'banned, blocked, unban, suspended key, too many requests, length of a ban, how long is a ban, locked out, blacklisted, temporarily blocked, avoid a ban, strikes',
  'Backing off':
    'exponential backoff, retry after, when to retry, jitter, 429, 503, timeout, 429 handling, handle too many requests, rate limited what to do, sleep, wait before retrying, should i retry, retry logic, stop retrying, throttle my requests, concurrency of a client',
  'Going live':
    'go to production, checklist, best practices, before launch, deploy, ready for customers, monitoring, production readiness, launch checklist, recommendations, review',
  Errors:
    'error handling, error format, exceptions, failures, problem details, body of an error, handle errors, error response, error message, validation error, 400 bad request, unknown field, unexpected error, 500',
  Paging:
    'pagination, paginate, next page, page size, per page, offset, cursor, get all, total count, sort, sorting, order by, filters, next link, more than 100 results, limit parameter, list everything, how many results, count items, filter a list, multiple values, comma separated, newest first, ascending, descending, updated since, date range, all records, last page, end of a list',
  Search:
    'full text search, find by name, autocomplete, query, like, fuzzy, filter by name, search by name, part of a name, substring, prefix, starts with, accents, umlauts, diacritics, case insensitive, typo, search box, search as you type',
  'Safe retries':
    'idempotency key, idempotent, duplicates, retry a post, twice, exactly once, timeout, did it go through, double submit, Idempotency-Key, same request twice, avoid duplicate orders, double order, connection lost, retry safely, replay, network error, request timed out, Idempotent-Replayed, duplicate order',
  'Conditional requests':
    'etag, if-match, if-none-match, 304 not modified, 412, caching, optimistic locking, concurrency, lost updates, concurrent edits, two people edit at the same time, race, cache, save bandwidth, unchanged, overwrite, conflict of edits, precondition failed, version of a resource, simultaneous changes, compare and swap',
  Restocking:
    'increase stock, replenish, receive a delivery of animals, goods received, adjust inventory, increment quantity, decrement, add units, add to stock, relative change, stock adjustment, race between stock updates, damaged, lost, returned units',
  Batches:
    'bulk insert, create many at once, multiple operations in one request, atomic, transaction, all or nothing, several requests at once, many changes in one call, rollback, partial failure, all succeed or none, mass update, bulk update, bulk delete, labels, refer to a new resource, hundreds of pets at once',
  'Import a file':
    'csv, excel, spreadsheet, upload, catalogue, migrate, bulk load, load data, initial load, seed data, large import, thousands of products, product feed, resume an import, migrate from another system',
  Recipes:
    'examples, code samples, how to, sync my database, synchronize, replicate, mirror, copy all data, show stock on a website, example code, sample programs, cookbook, nightly job, export everything, local copy, cache the catalogue, data warehouse',
  'Versions and deprecation':
    'versioning, api version header, breaking changes, compatibility, sunset, going away, removed, obsolete, stability, experimental, beta, deprecated operations, deprecated endpoints, upgrade to a new version, which version, end of life, migration, support policy, api versions, stable',
  Events:
    'changes in real time, server-sent events, sse, eventsource, websocket, polling, listen, notifications, order of events, audit log, change feed, stream of changes, subscribe to changes, event log, long polling, missed events, resume after a disconnect, last-event-id, changes since, cdc, retention of events',
  Webhooks:
    'callback, notify, notification, push, retries, failed deliveries, disabled, turned off, stopped, subscribe, hook, http callback, endpoint receives events, webhook url, register a webhook, webhook not arriving, endpoint was down, outage of my server',
  'Generate a client':
    'openapi file, swagger, code generator, codegen, python, java, kotlin, ruby, rust, csharp, .net, php, postman, openapi generator, generate sdk, other languages, go, golang, typescript types, api client for python, insomnia, import the contract',
  Agents:
    'mcp server, ai, llm, claude, chatgpt, copilot, assistant, tools, model context protocol, cursor, agent, language model, gpt, connect an ai, let an llm use the api, ai places orders',
  'Managing keys':
    'create an api key, new key, key expiry, expiration date, rotate, revoke, key administration, ip allowlist, restrict a key to networks, issue keys, give a partner a key, one key for each client, expire a key, delete a key, limit a key to an ip address, read-only key, admin key, api key for a customer, rename a key',
  'Use the API from a browser':
    'cors, frontend, javascript in a web page, website, react, single-page app, preflight, fetch, cross-origin, access-control-allow-origin, blocked by cors, browser request fails, call from javascript, options request, vue, angular, storefront',
  'Test keys':
    'test mode, sandbox, dry run, staging environment, without changing data, try out safely, test data, fake orders, does not touch real data',
};

/** By the title of the chapter for operators. */
const ofRunning: Names = {
  Settings:
    'environment variables of the service, configuration of the service, configure the service, options of the server',
  'Compose: everything on one machine': 'docker, docker compose, container, image, caddy, https certificate',
  'Kubernetes: replicas in a cluster': 'kubernetes, k8s, pods, helm, ingress',
  'Backup and restore': 'back up, restore a backup, disaster recovery, dump of the database, lost database',
  'What to watch': 'monitoring the service, metrics, prometheus, alerts for operators, grafana dashboard',
  'Log lines': 'log format, logs of the service, access log, log files, log level',
};

/** By chapter of the guide and heading. */
const ofSections: Readonly<Record<string, Names>> = {
  Authentication: {
    Scopes: 'permissions of a key, list of scopes, least privilege, what can a key do, insufficient scope',
    'Rejected keys': '401, 403, unauthorized, forbidden, expired key, key does not work, wrong ip address',
    'Replace a secret': 'key rotation, rotate without downtime, old and new secret, overlap, grace period',
  },
  Limits: {
    'How requests are counted':
      'what uses quota, do errors count, when does it reset, midnight utc, requests of a batch, limit by ip, shared limits',
    'At the limit': '429 response, limit exceeded, over the quota',
  },
  Paging: {
    'The number of items': 'total count, how many items, count, number of pages, total pages',
    'Order and combined filters': 'sort, order by, newest first, combine filters, ascending, descending',
    'Several values in a filter': 'multiple ids, comma, or filter, array parameter',
  },
  Search: {
    'Which names are found': 'accents, umlauts, typos, part of a word, case sensitive, prefix',
  },
  Batches: {
    'When an operation fails':
      'partial failure, one operation failed, rollback, index of the failed operation',
  },
  Events: {
    History: 'audit log, who changed what, previous values, audit trail',
    'Proof of the history': 'tampering, tamper evident, manipulated log, integrity, hash chain, compliance',
    'After a restore':
      'restored backup, cursor after a restore, lost events, disaster recovery, 410 gone, cursor is invalid',
    'Three ways to read the log': 'sse, polling, resume, reconnect, last-event-id, streaming, cursor',
    'Filters and periods': 'events of a day, only some types, events between dates',
  },
  Webhooks: {
    'Verify a signature':
      'webhook secret, hmac, signature does not match, invalid signature, validate a webhook, signing secret, raw body, security of webhooks',
    'Order, repeats and limits':
      'delivered in order, received twice, same event again, retry schedule, how often are deliveries retried, attempts, disabled webhook, duplicate deliveries, at least once, dead delivery',
    'Set up a webhook': 'register an endpoint, create a webhook, response time of an endpoint',
  },
};

/** By error code. */
const ofErrors: Names = {
  pet_not_available: 'pet is already sold, already reserved, pet is pending',
  out_of_stock: 'out of stock error, sold out error, no stock left',
  insufficient_stock: 'not enough stock, too few units',
};

/** What developers call the subjects of pages, where the pages have other words for them. The search finds the pages by both. */
export const otherNames: ReadonlyMap<string, string> = new Map([
  ...located(operationNames, operationUrl),
  ...located(ofPages, url => url),
  ...located(ofChapters, chapterUrl),
  ...located(ofRunning, runningUrl),
  ...Object.entries(ofSections).flatMap(([chapter, names]) =>
    located(names, heading => sectionUrl(chapter, heading)),
  ),
  ...located(ofErrors, errorUrl),
]);

function located(names: Names, urlOf: (name: string) => string): [url: string, names: string][] {
  return Object.entries(names).map(([name, others]) => [urlOf(name), others]);
}
