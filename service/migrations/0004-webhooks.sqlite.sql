-- Endpoints that events are sent to.
CREATE TABLE webhooks (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 9007199254740991),
  -- Whose key created it.
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id),
  -- The administrator's key by whose right it gets events that are for administrators; null when it gets none.
  confidential_key_id INTEGER REFERENCES api_keys (id),
  url TEXT NOT NULL CHECK (length(url) BETWEEN 1 AND 2000),
  -- Types of events and patterns such as order.*, separated by single spaces; null for all.
  types TEXT,
  description TEXT CHECK (length(description) <= 2000),
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  -- Why the service disabled it; null when somebody did.
  disabled_reason TEXT,
  disabled_at INTEGER,
  -- In plain text: signing needs them.
  secret TEXT NOT NULL,
  previous_secret TEXT,
  previous_secret_expires_at INTEGER,
  -- The number of the last event that was turned into a delivery, or passed over.
  position INTEGER NOT NULL,
  -- Since when nothing has been delivered.
  failing_since INTEGER,
  created_at INTEGER NOT NULL,
  -- Gone for everybody; the row stays until its deliveries are swept.
  deleted_at INTEGER,
  CHECK ((enabled = 1) = (disabled_at IS NULL))
) STRICT;

CREATE INDEX webhooks_enabled ON webhooks (id) WHERE enabled = 1 AND deleted_at IS NULL;
CREATE INDEX webhooks_deleted ON webhooks (id) WHERE deleted_at IS NOT NULL;

-- An event, or a test, on its way to an endpoint. IDs are in the order of the events, for each webhook.
CREATE TABLE webhook_deliveries (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 9007199254740991),
  webhook_id INTEGER NOT NULL,
  -- The number of the event in the log; null for a test.
  event_id INTEGER,
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
  -- Until when whoever sends it has it for itself; null when nobody does.
  leased_until INTEGER,
  created_at INTEGER NOT NULL,
  finished_at INTEGER,
  CHECK ((status = 'pending') = (finished_at IS NULL))
) STRICT;

CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries (webhook_id, status, id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_attempt_at) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_by_subject ON webhook_deliveries (webhook_id, subject, id) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_finished ON webhook_deliveries (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE webhook_attempts (
  delivery_id INTEGER NOT NULL REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  -- Of the answer; null when there was none.
  status INTEGER,
  error TEXT,
  -- Up to 1 KiB of the answer.
  response_start TEXT,
  PRIMARY KEY (delivery_id, number)
) STRICT, WITHOUT ROWID;
