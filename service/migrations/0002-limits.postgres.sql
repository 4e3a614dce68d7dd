-- The minute in which the key was last used, and until when its bans are forgiven.
ALTER TABLE api_keys ADD COLUMN last_used_at BIGINT;
ALTER TABLE api_keys ADD COLUMN bans_lifted_at BIGINT;

-- Secrets that were rotated out, which work until they expire.
CREATE TABLE previous_secrets (
  -- SHA-256 of the secret.
  hash BYTEA NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
  api_key_id BIGINT NOT NULL REFERENCES api_keys (id),
  expires_at BIGINT NOT NULL
);

CREATE INDEX previous_secrets_by_key ON previous_secrets (api_key_id);

-- What each key has used of its minute, and its strikes and bans. Of the day see key_usage.
CREATE TABLE key_limits (
  api_key_id BIGINT PRIMARY KEY REFERENCES api_keys (id),
  minute BIGINT NOT NULL,
  minute_used BIGINT NOT NULL,
  told_at BIGINT NOT NULL,
  told_until BIGINT NOT NULL,
  -- Instants as a JSON array.
  strikes TEXT NOT NULL,
  banned_at BIGINT NOT NULL,
  banned_until BIGINT NOT NULL,
  bans BIGINT NOT NULL
);

-- The requests of each key by UTC day, in days since the Unix epoch.
CREATE TABLE key_usage (
  api_key_id BIGINT NOT NULL REFERENCES api_keys (id),
  day BIGINT NOT NULL,
  admitted BIGINT NOT NULL CHECK (admitted >= 0),
  refused BIGINT NOT NULL CHECK (refused >= 0),
  PRIMARY KEY (api_key_id, day)
);

CREATE INDEX key_usage_by_day ON key_usage (day);

-- A POST that creates nothing has no location.
ALTER TABLE idempotency_keys ALTER COLUMN location DROP NOT NULL;
