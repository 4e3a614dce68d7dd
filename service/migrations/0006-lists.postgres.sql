-- Each page of a list is one range of one of these indexes, or of one per status (decision 0023). Each ends with an expression
-- of the ID that no other index of the table has, so that the planner cannot take another one of the same order.
DROP INDEX pets_by_name;
DROP INDEX pets_by_category;
DROP INDEX pets_by_category_and_name;
DROP INDEX pets_by_status;
DROP INDEX pets_by_status_and_name;
CREATE INDEX pets_by_status ON pets (status, (id - 1));
CREATE INDEX pets_by_status_and_name ON pets (status, name_key, (id - 2));
CREATE INDEX pets_by_category_and_status ON pets (category_id, status, (id - 3));
CREATE INDEX pets_by_category_status_and_name ON pets (category_id, status, (name_key || ''), (id - 4));
CREATE INDEX pets_by_status_and_quantity ON pets (status, quantity, (id - 5));

DROP INDEX orders_by_pet;
DROP INDEX orders_by_complete;
DROP INDEX orders_by_ship_date;
CREATE INDEX orders_by_complete ON orders (complete, (id - 1));
CREATE INDEX orders_by_complete_and_ship_date ON orders (complete, ship_date, (id - 2)) WHERE ship_date IS NOT NULL;
CREATE INDEX orders_by_pet ON orders (pet_id, complete, (id - 3));
CREATE INDEX orders_by_pet_and_ship_date ON orders (pet_id, complete, (ship_date - 0), (id - 4)) WHERE ship_date IS NOT NULL;

-- The webhooks that are listed; those that are deleted stay until their deliveries are swept.
CREATE INDEX webhooks_listed ON webhooks ((id - 1)) WHERE deleted_at IS NULL;

DROP INDEX webhook_deliveries_by_webhook;
DROP INDEX webhook_deliveries_by_status;
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, (id - 1));
CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries (webhook_id, status, (id - 2));

-- Each change of a key looks at the keys of administrators.
CREATE INDEX api_keys_of_administrators ON api_keys (expires_at)
  WHERE revoked_at IS NULL AND ' ' || scopes || ' ' LIKE '% admin %';

-- Read by the sweeps.
CREATE INDEX previous_secrets_by_expiry ON previous_secrets (expires_at);
