-- The secret of a publishable key is public: it is part of the pages that send it. So the key can only read pets and stock.
ALTER TABLE api_keys ADD COLUMN kind TEXT NOT NULL DEFAULT 'secret' CHECK (
  kind = 'secret' OR kind = 'publishable' AND scopes IN (
    'pets:read', 'inventory:read', 'pets:read inventory:read', 'inventory:read pets:read'
  )
);

-- The origins of pages that can send a publishable key, as browsers send them in the header Origin.
CREATE TABLE api_key_origins (
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id),
  origin TEXT NOT NULL CHECK (length(origin) BETWEEN 1 AND 267),
  PRIMARY KEY (api_key_id, origin)
) STRICT, WITHOUT ROWID;

CREATE INDEX api_key_origins_by_origin ON api_key_origins (origin);
