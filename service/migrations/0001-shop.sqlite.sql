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

CREATE INDEX pets_by_name ON pets (name_key);
CREATE INDEX pets_by_category ON pets (category_id);
CREATE INDEX pets_by_status ON pets (status);
-- Without these a list of one category or status, sorted by name, would read and sort all of it for every page.
CREATE INDEX pets_by_category_and_name ON pets (category_id, name_key);
CREATE INDEX pets_by_status_and_name ON pets (status, name_key);

CREATE TABLE orders (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 9007199254740991),
  -- Not a reference: a completed order keeps the ID of its pet after the pet is deleted.
  pet_id INTEGER CHECK (pet_id BETWEEN 1 AND 9007199254740991),
  quantity INTEGER NOT NULL CHECK (quantity BETWEEN 1 AND 2147483647),
  ship_date INTEGER,
  complete INTEGER NOT NULL CHECK (complete IN (0, 1)),
  -- An open order with a pet refers to that pet, and to its being orderable: the store itself refuses to delete the
  -- pet or to mark it sold while the order is open.
  open_pet_id INTEGER GENERATED ALWAYS AS (CASE WHEN complete = 0 THEN pet_id END) STORED,
  open_orderable INTEGER GENERATED ALWAYS AS (CASE WHEN complete = 0 AND pet_id IS NOT NULL THEN 1 END) STORED,
  CHECK (complete = 0 OR (pet_id IS NOT NULL AND ship_date IS NOT NULL)),
  FOREIGN KEY (open_pet_id, open_orderable) REFERENCES pets (id, orderable)
) STRICT;

CREATE INDEX orders_by_open_pet ON orders (open_pet_id, open_orderable) WHERE open_pet_id IS NOT NULL;
CREATE INDEX orders_by_pet ON orders (pet_id);
CREATE INDEX orders_by_complete ON orders (complete);
CREATE INDEX orders_by_ship_date ON orders (ship_date);

CREATE TABLE api_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 9007199254740991),
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  -- SHA-256 of the key; the key itself is not kept.
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  plan TEXT NOT NULL CHECK (plan IN ('free', 'pro', 'business', 'enterprise')),
  -- Separated by single spaces.
  scopes TEXT NOT NULL,
  per_minute INTEGER CHECK (per_minute >= 1),
  per_day INTEGER CHECK (per_day >= 1),
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  CHECK ((plan = 'enterprise') = (per_minute IS NOT NULL)),
  CHECK ((plan = 'enterprise') = (per_day IS NOT NULL))
) STRICT;

-- The outcomes of POST requests, kept in the transaction of their effect.
CREATE TABLE idempotency_keys (
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id),
  idempotency_key TEXT NOT NULL,
  -- SHA-256 of the request, to tell a retry from another request.
  fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
  location TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (api_key_id, idempotency_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
