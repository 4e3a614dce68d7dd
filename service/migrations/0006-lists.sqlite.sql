-- Each page of a list is one range of one of these indexes, or of one per status (decision 0023). Each ends with the ID,
-- which SQLite adds to an index by itself.
DROP INDEX pets_by_name;
DROP INDEX pets_by_category;
DROP INDEX pets_by_category_and_name;
CREATE INDEX pets_by_category_and_status ON pets (category_id, status);
CREATE INDEX pets_by_category_status_and_name ON pets (category_id, status, name_key);
CREATE INDEX pets_by_status_and_quantity ON pets (status, quantity);

DROP INDEX orders_by_pet;
DROP INDEX orders_by_ship_date;
CREATE INDEX orders_by_pet ON orders (pet_id, complete);
CREATE INDEX orders_by_complete_and_ship_date ON orders (complete, ship_date) WHERE ship_date IS NOT NULL;
CREATE INDEX orders_by_pet_and_ship_date ON orders (pet_id, complete, ship_date) WHERE ship_date IS NOT NULL;

-- The webhooks that are listed; those that are deleted stay until their deliveries are swept.
CREATE INDEX webhooks_listed ON webhooks (id) WHERE deleted_at IS NULL;

-- Each change of a key looks at the keys of administrators.
CREATE INDEX api_keys_of_administrators ON api_keys (expires_at)
  WHERE revoked_at IS NULL AND ' ' || scopes || ' ' LIKE '% admin %';

-- Read by the sweeps.
CREATE INDEX previous_secrets_by_expiry ON previous_secrets (expires_at);
