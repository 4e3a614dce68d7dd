-- The stock of one category, by quantity. The index ends as those of lists do (decision 0023).
CREATE INDEX pets_by_category_status_and_quantity ON pets (category_id, status, (quantity + 0), (id - 6));

-- The name without regard to case; empty until the service has set it: for existing keys after this migration, and for keys
-- that the version before creates.
ALTER TABLE api_keys ADD COLUMN name_key TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE api_keys ADD COLUMN revoked INTEGER NOT NULL
  GENERATED ALWAYS AS (CASE WHEN revoked_at IS NULL THEN 0 ELSE 1 END) STORED;
CREATE INDEX api_keys_listed ON api_keys (revoked, plan, (id - 1));
CREATE INDEX api_keys_by_name ON api_keys (revoked, plan, name_key, (id - 2));
CREATE INDEX api_keys_without_name_key ON api_keys (id) WHERE name_key = '';

-- The version before changes names and does not know name_key. The trigger can be dropped when no such version can run.
CREATE FUNCTION empty_name_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.name_key := '';
  RETURN NEW;
END $$;
CREATE TRIGGER api_keys_renamed BEFORE UPDATE OF name ON api_keys FOR EACH ROW
  WHEN (lower(NEW.name) <> lower(OLD.name) AND NEW.name_key = OLD.name_key) EXECUTE FUNCTION empty_name_key();
