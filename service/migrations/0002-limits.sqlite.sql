-- The minute in which the key was last used, and until when its bans are forgiven.
ALTER TABLE api_keys ADD COLUMN last_used_at INTEGER;
ALTER TABLE api_keys ADD COLUMN bans_lifted_at INTEGER;

-- Secrets that were rotated out, which work until they expire.
CREATE TABLE previous_secrets (
  -- SHA-256 of the secret.
  hash BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id),
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX previous_secrets_by_key ON previous_secrets (api_key_id);

-- What each key has used of its minute, and its strikes and bans. Of the day see key_usage.
CREATE TABLE key_limits (
  api_key_id INTEGER PRIMARY KEY REFERENCES api_keys (id),
  minute INTEGER NOT NULL,
  minute_used INTEGER NOT NULL,
  told_at INTEGER NOT NULL,
  told_until INTEGER NOT NULL,
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
  admitted INTEGER NOT NULL CHECK (admitted >= 0),
  refused INTEGER NOT NULL CHECK (refused >= 0),
  PRIMARY KEY (api_key_id, day)
) STRICT, WITHOUT ROWID;

CREATE INDEX key_usage_by_day ON key_usage (day);

-- A POST that creates nothing has no location.
ALTER TABLE idempotency_keys RENAME TO creations;
CREATE TABLE idempotency_keys (
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id),
  idempotency_key TEXT NOT NULL,
  -- SHA-256 of the request, to tell a retry from another request.
  fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
  location TEXT,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (api_key_id, idempotency_key)
) STRICT, WITHOUT ROWID;
INSERT INTO idempotency_keys SELECT * FROM creations;
DROP TABLE creations;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
