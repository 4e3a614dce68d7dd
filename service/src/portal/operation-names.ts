/** What developers call operations, by operation ID. */
export const operationNames = {
  listPets:
    'get all pets, products, filter by status, sort, find a pet, pet by id, all available pets, available animals, pets of a category, filter pets, search pets, number of pets, product list, catalogue, pets with status',
  createPet: 'add a pet, new pet, new product, add a product, register an animal, default status',
  changePet:
    'partial update, mark a pet as sold, set status, put on hold, edit, rename a pet, mark a pet as available, change one field, move a pet to another category, update name, edit a product',
  placeOrder:
    'buy, purchase, checkout, create an order, new order, sell a pet, reserve a pet, sell over the counter, make an order, submit an order, order a pet, several units, draft order, sold out',
  cancelOrder:
    'refund, return an order, undo an order, release a reservation, delete an order, abort an order, stop an order',
  changeOrder:
    'mark an order as shipped, fulfil, fulfilled, delivered, picked up, collected, finish, ship date, change quantity, ship an order, dispatch, close an order, complete, mark as done, update an order, set shipped',
  listOrders:
    'all orders, my orders, filter orders by ship date, open orders, order history, orders of a pet, incomplete orders, orders of today, search orders, shipments, find an order',
  listInventory:
    'low stock, how many in stock, stock levels, quantities, stock of all pets, stock report, running out, pets without stock, almost sold out, below a quantity',
  getInventoryItem:
    'how many are left, quantity in stock, availability, stock of one pet, current stock, check stock, in stock',
  setStock:
    'set the inventory quantity, correct a count, stocktaking, overwrite the stock, absolute stock, initial stock, update stock',
  adjustStock:
    'increase stock, decrease stock, increment, decrement, restock, add units, remove units, change by a difference, damaged, lost',
  getAccount:
    'whoami, current user, me, quota left, remaining requests, my scopes, my plan, my usage, own key, scopes of my key, am i banned, which plan am i on, check my limits, requests used today, test my key',
  getBusiestApiKeys:
    'top clients, which client makes the most requests, statistics, usage by client, heaviest users, usage report',
  getApiKeyUsage:
    'statistics, requests per key, metering, usage history of a key, usage per day, requests of a client, usage statistics',
  liftBan: 'unban, unblock, remove a ban, end a ban early, unblock a client',
  changeApiKey:
    'upgrade a plan, custom quota, change scopes, change the plan of a key, extend a key, disable a key, rename a key, edit a key',
  createApiKey: 'get an api key, new key, issue a key, read-only key, generate a key, key for a partner',
  listHistory:
    'audit log, audit trail, who changed it, activity, who did what, who deleted, who edited, changes of a pet, previous values, old price, log of changes, blame, activity log',
  streamEvents:
    'server-sent events, sse, eventsource, websocket, real time, live, listen to events, push events, subscribe to the stream',
  replayWebhook:
    'missed events, send again, resend many, events while my server was down, catch up, backfill, send everything again',
  redeliverWebhookDelivery:
    'resend a failed delivery, retry a delivery, retry a dead delivery, dead letter, send a delivery again',
  listWebhookDeliveries:
    'failed deliveries, delivery log, debug a webhook, why did a delivery fail, delivery attempts, response of my endpoint, webhook logs, webhook history',
  testWebhook:
    'ping a webhook, try a webhook, test a webhook, send a sample event, check a webhook, trigger a webhook',
  getHealth: 'health check, liveness probe, kubernetes, uptime, is it running, ping, heartbeat, healthz',
  getReadiness:
    'readiness probe, kubernetes, load balancer, degraded, ready, readyz, database down, redis down, postgresql down, monitor the service, health of dependencies',
  getContractAsYaml:
    'openapi file, swagger, schema, specification, download the openapi, contract, openapi 3',
  getContractAsJson:
    'openapi file, swagger, schema, specification, download the openapi, contract, openapi 3',
  getPet: 'one pet, pet by id, single pet, get a pet',
  replacePet: 'overwrite a pet, full update, put',
  deletePet: 'remove a pet, delete a product, discontinue',
  listCategories: 'all categories, browse categories, kinds of animals, product groups',
  createCategory: 'new category, add a category',
  changeCategory: 'rename a category, edit the description, clear the description',
  deleteCategory: 'remove a category, category not empty',
  getOrder: 'status of an order, one order, order by id, is it shipped',
  runBatch: 'bulk, many changes in one call, several operations, atomic',
  requestPlan: 'ask for a larger plan, upgrade my plan, more quota',
  approvePlanRequest: 'accept a plan request, grant an upgrade, upgrade a customer',
  declinePlanRequest: 'reject a plan request, reject an upgrade',
  listPlanRequests: 'open upgrade requests, pending requests for plans',
  listApiKeys: 'which keys exist, find a key, unused keys',
  revokeApiKey:
    'delete a key, disable a key, cut off a client, former employee, block a key for good, kill a key',
  rotateApiKey: 'new secret, renew a key, replace a secret, roll a key, key rotation, without downtime',
  resetLimits: 'reset a quota, clear the limits, give back requests',
  revokeLeakedKeys: 'report a leaked key, secret scanning partner',
  listEvents: 'events since, poll for changes, all events, changes of one pet',
  listSeals: 'hash chain, tamper proof, verify the log, integrity, merkle',
  getCheckpoint: 'tamper evidence, proof of the log, integrity, audit',
  createWebhook: 'register a webhook, subscribe, add an endpoint, new webhook',
  changeWebhook:
    'pause a webhook, enable a webhook, disable a webhook, turn on again, change the url of a webhook',
  deleteWebhook: 'remove a webhook, unsubscribe, stop notifications',
  rotateWebhookSecret: 'new signing secret, change the webhook secret',
  getWebhookDelivery: 'body of a delivery, what was sent',
};
