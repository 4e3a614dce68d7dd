CREATE TABLE categories (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 9007199254740991),
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  -- The name without regard to case: what is unique, sorted by and searched for.
  name_key TEXT NOT NULL UNIQUE,
  description TEXT CHECK (length(description) <= 2000)
) STRICT;

-- A pet and its one inventory entry are one row: its status is the status of both.
CREATE TABLE pets (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 9007199254740991),
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  name_key TEXT NOT NULL,
  category_id INTEGER NOT NULL REFERENCES categories (id),
  status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
  -- Units that can still be ordered.
  quantity INTEGER NOT NULL CHECK (quantity BETWEEN 0 AND 2147483647),
  -- What open orders refer to (see orders): a sold pet cannot have any.
  orderable INTEGER NOT NULL GENERATED ALWAYS AS (CASE WHEN status = 'sold' THEN 0 ELSE 1 END) STORED,
  CHECK (status <> 'available' OR quantity >= 1),
  CHECK (status <> 'sold' OR quantity = 0),
  UNIQUE (id, orderable)
) STRICT;

-- Each page of a list is one range of one of its indexes, or of one for each status (decision 0023). Each ends with the ID, which
-- SQLite adds to an index by itself.
CREATE INDEX pets_by_status ON pets (status);
CREATE INDEX pets_by_status_and_name ON pets (status, name_key);
CREATE INDEX pets_by_category_and_status ON pets (category_id, status);
CREATE INDEX pets_by_category_status_and_name ON pets (category_id, status, name_key);
CREATE INDEX pets_by_status_and_quantity ON pets (status, quantity);
CREATE INDEX pets_by_category_status_and_quantity ON pets (category_id, status, quantity);

-- The words of each name, except for a first word that the indexes by name find. The key is the order of search results.
CREATE TABLE pet_words (
  word TEXT NOT NULL,
  name_key TEXT NOT NULL,
  pet_id INTEGER NOT NULL,
  PRIMARY KEY (word, name_key, pet_id)
) STRICT, WITHOUT ROWID;

-- Pets whose words are not those of their name: a long write leaves some words for after its commit.
CREATE TABLE pets_to_index (
  pet_id INTEGER PRIMARY KEY,
  -- The name_key whose words are stored; null when none are.
  indexed_name TEXT
) STRICT;

-- The dictionary: every word that a typing error can lead to.
CREATE TABLE words (
  word TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- The start of each word of the dictionary without up to two of its letters. A word with typing errors shares a variant.
CREATE TABLE word_variants (
  variant TEXT NOT NULL,
  word TEXT NOT NULL,
  PRIMARY KEY (variant, word)
) STRICT, WITHOUT ROWID;

CREATE TABLE orders (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 9007199254740991),
  -- Not a reference: a completed order keeps the ID of its pet after the pet is deleted.
  pet_id INTEGER CHECK (pet_id BETWEEN 1 AND 9007199254740991),
  quantity INTEGER NOT NULL CHECK (quantity BETWEEN 1 AND 2147483647),
  ship_date INTEGER,
  complete INTEGER NOT NULL CHECK (complete IN (0, 1)),
  -- An open order with a pet refers to that pet, and to its being orderable: the store itself rejects deleting the pet or
  -- marking it sold while the order is open.
  open_pet_id INTEGER GENERATED ALWAYS AS (CASE WHEN complete = 0 THEN pet_id END) STORED,
  open_orderable INTEGER GENERATED ALWAYS AS (CASE WHEN complete = 0 AND pet_id IS NOT NULL THEN 1 END) STORED,
  CHECK (complete = 0 OR (pet_id IS NOT NULL AND ship_date IS NOT NULL)),
  FOREIGN KEY (open_pet_id, open_orderable) REFERENCES pets (id, orderable)
) STRICT;

CREATE INDEX orders_by_open_pet ON orders (open_pet_id, open_orderable) WHERE open_pet_id IS NOT NULL;
CREATE INDEX orders_by_complete ON orders (complete);
CREATE INDEX orders_by_complete_and_ship_date ON orders (complete, ship_date) WHERE ship_date IS NOT NULL;
CREATE INDEX orders_by_pet ON orders (pet_id, complete);
CREATE INDEX orders_by_pet_and_ship_date ON orders (pet_id, complete, ship_date) WHERE ship_date IS NOT NULL;

CREATE TABLE api_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 9007199254740991),
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  -- The name without regard to case: what is sorted by and searched for.
  name_key TEXT NOT NULL,
  -- SHA-256 of the key; the key itself is not kept.
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  kind TEXT NOT NULL CHECK (kind IN ('secret', 'publishable', 'test')),
  plan TEXT NOT NULL CHECK (plan IN ('free', 'pro', 'business', 'enterprise')),
  -- Separated by single spaces.
  scopes TEXT NOT NULL,
  -- The addresses and ranges of addresses from which it can be used, separated by single spaces; null for all.
  allowed_networks TEXT CHECK (length(allowed_networks) BETWEEN 2 AND 2200),
  per_minute INTEGER CHECK (per_minute >= 1),
  per_day INTEGER CHECK (per_day >= 1),
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  -- When the next warning before the end is due; null if none is left.
  expiry_warning_at INTEGER,
  revoked_at INTEGER,
  revoked INTEGER NOT NULL GENERATED ALWAYS AS (CASE WHEN revoked_at IS NULL THEN 0 ELSE 1 END) STORED,
  -- The minute in which the key was last used, and the address and the User-Agent of a request in it.
  last_used_at INTEGER,
  last_used_from TEXT,
  last_used_client TEXT,
  -- Until when bans of the key are ignored.
  bans_lifted_at INTEGER,
  -- When the event of a reported secret was last appended, if the service only reports leaked keys.
  leak_reported_at INTEGER,
  -- The instant at which the limits of the key were last reset, or the key was created; higher by one at least with each reset. What
  -- was counted before is known by its smaller number, and so is what was counted for a lost key with the same ID.
  limits_resets INTEGER NOT NULL DEFAULT 0 CHECK (limits_resets >= 0),
  CHECK ((plan = 'enterprise') = (per_minute IS NOT NULL)),
  CHECK ((plan = 'enterprise') = (per_day IS NOT NULL)),
  -- The secret of a publishable key is public: it is part of the pages that send it. So the key can only read pets and stock.
  CHECK (kind <> 'publishable' OR scopes IN (
    'pets:read', 'inventory:read', 'pets:read inventory:read', 'inventory:read pets:read'
  )),
  -- A test key tries out changes of the shop. It has no rights beyond the shop, which other programs could depend on.
  CHECK (kind <> 'test' OR (
    plan = 'free' AND ' ' || scopes || ' ' NOT LIKE '% admin %' AND ' ' || scopes || ' ' NOT LIKE '% webhooks:write %'
  ))
) STRICT;

CREATE INDEX api_keys_listed ON api_keys (revoked, plan);
CREATE INDEX api_keys_by_name ON api_keys (revoked, plan, name_key);
-- Each change of a key looks at the keys of administrators.
CREATE INDEX api_keys_of_administrators ON api_keys (expires_at)
  WHERE revoked_at IS NULL AND ' ' || scopes || ' ' LIKE '% admin %';

-- The keys that must be warned next.
CREATE INDEX api_keys_by_expiry_warning ON api_keys (expiry_warning_at) WHERE expiry_warning_at IS NOT NULL;

-- The origins of pages that can send a publishable key, as browsers send them in the header Origin.
CREATE TABLE api_key_origins (
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id),
  origin TEXT NOT NULL CHECK (length(origin) BETWEEN 1 AND 267),
  PRIMARY KEY (api_key_id, origin)
) STRICT, WITHOUT ROWID;

CREATE INDEX api_key_origins_by_origin ON api_key_origins (origin);

-- Secrets that were rotated out, which work until they expire.
CREATE TABLE previous_secrets (
  -- SHA-256 of the secret.
  hash BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id),
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX previous_secrets_by_key ON previous_secrets (api_key_id);
CREATE INDEX previous_secrets_by_expiry ON previous_secrets (expires_at);

-- The ticket of the latest link that signs a browser in to the console: the SHA-256 of its text. Any replica can redeem it.
CREATE TABLE sign_in_tickets (
  hash BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
  issued_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What each key has used of its minute, and its strikes and bans. Of the day see key_usage.
CREATE TABLE key_limits (
  api_key_id INTEGER PRIMARY KEY REFERENCES api_keys (id),
  -- The limits_resets of the key when this was counted.
  resets INTEGER NOT NULL CHECK (resets >= 0),
  minute INTEGER NOT NULL,
  minute_used INTEGER NOT NULL,
  -- Which of the last ten minutes were used up, as bits: the lowest is this minute.
  full_minutes INTEGER NOT NULL,
  -- The last minute at which five of ten were used up; 0 if there was none.
  busy_minute INTEGER NOT NULL,
  -- The limit of that minute; 0 if there was none.
  busy_limit INTEGER NOT NULL,
  -- When a request was last rejected, and until when the client was asked to wait.
  rejected_at INTEGER NOT NULL,
  wait_until INTEGER NOT NULL,
  -- Instants as a JSON array.
  strikes TEXT NOT NULL,
  banned_at INTEGER NOT NULL,
  banned_until INTEGER NOT NULL,
  bans INTEGER NOT NULL
) STRICT;

-- The requests of each key by UTC day, in days since the Unix epoch.
CREATE TABLE key_usage (
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id),
  day INTEGER NOT NULL,
  resets INTEGER NOT NULL CHECK (resets >= 0),
  admitted INTEGER NOT NULL CHECK (admitted >= 0),
  rejected INTEGER NOT NULL CHECK (rejected >= 0),
  -- Requests of the day from before the last reset. They are use, but no longer count.
  earlier_admitted INTEGER NOT NULL CHECK (earlier_admitted >= 0),
  earlier_rejected INTEGER NOT NULL CHECK (earlier_rejected >= 0),
  PRIMARY KEY (api_key_id, day)
) STRICT, WITHOUT ROWID;

-- The keys of a day by their requests.
CREATE INDEX key_usage_by_requests
  ON key_usage (day, (admitted + rejected + earlier_admitted + earlier_rejected), api_key_id);

-- The parts of their limits that keys have used, each of which they are warned of once.
CREATE TABLE quota_warnings (
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id),
  -- Days since the Unix epoch.
  day INTEGER NOT NULL,
  of_window TEXT NOT NULL CHECK (of_window IN ('minute', 'day')),
  percent INTEGER NOT NULL CHECK (percent IN (80, 95, 100)),
  -- The limit, and the limits_resets of the key: another limit and a reset begin anew.
  quota INTEGER NOT NULL,
  resets INTEGER NOT NULL,
  passed_at INTEGER NOT NULL,
  PRIMARY KEY (api_key_id, day, of_window, percent, quota, resets)
) STRICT, WITHOUT ROWID;

CREATE INDEX quota_warnings_by_day ON quota_warnings (day);

-- Requests of keys for other plans. A key has one open request.
CREATE TABLE plan_requests (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 9007199254740991),
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id),
  -- The name of the key at that time.
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  plan TEXT NOT NULL CHECK (plan IN ('free', 'pro', 'business', 'enterprise')),
  per_minute INTEGER CHECK (per_minute >= 1),
  per_day INTEGER CHECK (per_day >= 1),
  note TEXT CHECK (length(note) BETWEEN 1 AND 1000),
  status TEXT NOT NULL CHECK (status IN ('open', 'approved', 'declined')),
  message TEXT CHECK (length(message) BETWEEN 1 AND 1000),
  created_at INTEGER NOT NULL,
  decided_at INTEGER,
  CHECK ((plan = 'enterprise') = (per_minute IS NOT NULL)),
  CHECK ((plan = 'enterprise') = (per_day IS NOT NULL)),
  CHECK ((status = 'open') = (decided_at IS NULL))
) STRICT;

CREATE INDEX plan_requests_by_status ON plan_requests (status);
CREATE INDEX plan_requests_by_key ON plan_requests (api_key_id);
CREATE UNIQUE INDEX plan_requests_open ON plan_requests (api_key_id) WHERE status = 'open';

-- The outcomes of POST requests, kept in the transaction of their effect.
CREATE TABLE idempotency_keys (
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id),
  idempotency_key TEXT NOT NULL,
  -- SHA-256 of the request, to distinguish a retry from another request.
  fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
  -- Null for a POST that creates nothing.
  location TEXT,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (api_key_id, idempotency_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- The log of events, numbered without gaps: one transaction runs at a time, and one that is rolled back takes its numbers
-- with it.
CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL,
  subject TEXT NOT NULL,
  time INTEGER NOT NULL,
  -- The resource after the change, as JSON.
  data TEXT NOT NULL,
  -- What made the change: keys/12, or system for a change without a request.
  actor TEXT NOT NULL,
  -- The X-Request-Id of the request that made the change; null for a change without a request.
  request_id TEXT,
  -- The header traceparent (W3C Trace Context) of the request that made the change; null for a change that is part of no trace.
  traceparent TEXT,
  -- The values that changed, as they were before: a JSON array of [field, value]; null when nothing or everything is new or gone.
  old_values TEXT,
  -- The name of the thing at this time; null when the data has it.
  name TEXT,
  -- The subject of another thing whose history the event is part of: the pet of an order.
  related TEXT,
  -- Why the change was made, and the words of the person who made it.
  reason TEXT,
  note TEXT
) STRICT;

-- A filtered page of the log reads only the events that pass the filter. The ID of a row is the last column of each index.
CREATE INDEX events_by_type ON events (type);
CREATE INDEX events_by_subject ON events (subject, type);
CREATE INDEX events_by_actor ON events (actor, type);
CREATE INDEX events_by_related ON events (related, type) WHERE related IS NOT NULL;

-- The seals of the log, one for each group of events that got their numbers together. They stay when the events expire.
CREATE TABLE event_seals (
  last_id INTEGER PRIMARY KEY,
  first_id INTEGER NOT NULL,
  -- SHA-256 of the seal before and the digests of the events, in hexadecimal digits.
  seal TEXT NOT NULL CHECK (length(seal) = 64),
  -- The first 8 digits of the digest of each event; null when the events have expired.
  digests TEXT,
  time INTEGER NOT NULL
) STRICT;

-- The number of the latest event, which may have expired.
CREATE VIEW event_log AS
  SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) AS last_id;

-- Endpoints that events are sent to.
CREATE TABLE webhooks (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 9007199254740991),
  -- Whose key created it.
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id),
  url TEXT NOT NULL CHECK (length(url) BETWEEN 1 AND 2000),
  -- Types of events and patterns such as order.*, separated by single spaces; null for all.
  types TEXT,
  description TEXT CHECK (length(description) <= 2000),
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  -- Why the service disabled it; null when a client did.
  disabled_reason TEXT,
  disabled_at INTEGER,
  -- In plain text: signing needs them.
  secret TEXT NOT NULL,
  previous_secret TEXT,
  previous_secret_expires_at INTEGER,
  -- The number of the last event that was turned into a delivery, or passed over.
  position INTEGER NOT NULL,
  -- The last event of a replay; it is under way until the position gets there.
  replay_until INTEGER,
  -- The event that is still sent although the key has ended.
  last_event_id INTEGER,
  -- Since when nothing has been delivered.
  failing_since INTEGER,
  created_at INTEGER NOT NULL,
  -- Clients no longer see it; the row stays until its deliveries are swept.
  deleted_at INTEGER,
  CHECK ((enabled = 1) = (disabled_at IS NULL))
) STRICT;

CREATE INDEX webhooks_listed ON webhooks (id) WHERE deleted_at IS NULL;
CREATE INDEX webhooks_by_key ON webhooks (api_key_id, id) WHERE deleted_at IS NULL;
CREATE INDEX webhooks_enabled ON webhooks (id) WHERE enabled = 1 AND deleted_at IS NULL;
CREATE INDEX webhooks_disabled ON webhooks (disabled_at) WHERE disabled_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX webhooks_deleted ON webhooks (id) WHERE deleted_at IS NOT NULL;
CREATE INDEX webhooks_expiring_secrets ON webhooks (previous_secret_expires_at) WHERE previous_secret_expires_at IS NOT NULL;

-- An event on its way to an endpoint. IDs are in the order of the events, for each webhook.
CREATE TABLE webhook_deliveries (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 9007199254740991),
  webhook_id INTEGER NOT NULL,
  -- The number of the event in the log.
  event_id INTEGER NOT NULL,
  type TEXT NOT NULL,
  subject TEXT NOT NULL,
  -- The event as it is sent: it outlives the log.
  payload TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'dead')),
  attempts INTEGER NOT NULL DEFAULT 0,
  -- Failed attempts since it was first, or once more, to be delivered: the place in the schedule.
  failures INTEGER NOT NULL DEFAULT 0,
  -- While it is sent, the end of the lease; null while an earlier one of its subject is pending, and when it is finished.
  next_attempt_at INTEGER,
  -- Until when one process alone may send it; null while none does.
  leased_until INTEGER,
  created_at INTEGER NOT NULL,
  finished_at INTEGER,
  CHECK ((status = 'pending') = (finished_at IS NULL))
) STRICT;

CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries (webhook_id, status, id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_attempt_at) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_by_subject ON webhook_deliveries (webhook_id, subject, id) WHERE status = 'pending';
-- Deliveries that do not wait for an earlier one and were never tried: how far ahead a webhook is planned.
CREATE INDEX webhook_deliveries_untried ON webhook_deliveries (webhook_id, next_attempt_at)
  WHERE status = 'pending' AND attempts = 0 AND next_attempt_at IS NOT NULL;
CREATE INDEX webhook_deliveries_leased ON webhook_deliveries (webhook_id, leased_until) WHERE leased_until IS NOT NULL;
CREATE INDEX webhook_deliveries_finished ON webhook_deliveries (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE webhook_attempts (
  delivery_id INTEGER NOT NULL REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  -- Of the response; null when there was none.
  status INTEGER,
  error TEXT,
  -- Up to 1 KiB of the response.
  response_start TEXT,
  PRIMARY KEY (delivery_id, number)
) STRICT, WITHOUT ROWID;
