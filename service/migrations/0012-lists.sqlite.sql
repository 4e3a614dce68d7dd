-- The stock of one category, by quantity.
CREATE INDEX pets_by_category_status_and_quantity ON pets (category_id, status, quantity);

-- The name without regard to case; empty until the service has set it, for existing keys after this migration.
ALTER TABLE api_keys ADD COLUMN name_key TEXT NOT NULL DEFAULT '';
ALTER TABLE api_keys ADD COLUMN revoked INTEGER
  GENERATED ALWAYS AS (CASE WHEN revoked_at IS NULL THEN 0 ELSE 1 END) VIRTUAL;
CREATE INDEX api_keys_listed ON api_keys (revoked, plan);
CREATE INDEX api_keys_by_name ON api_keys (revoked, plan, name_key);
CREATE INDEX api_keys_without_name_key ON api_keys (id) WHERE name_key = '';
