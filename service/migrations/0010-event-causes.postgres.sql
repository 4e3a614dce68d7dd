-- What made the change: keys/12, or system for a change without a request; null for an event of a version before this one.
ALTER TABLE new_events ADD COLUMN actor TEXT;
ALTER TABLE events ADD COLUMN actor TEXT;
-- The X-Request-Id of the request that made the change; null for a change without a request.
ALTER TABLE new_events ADD COLUMN request_id TEXT;
ALTER TABLE events ADD COLUMN request_id TEXT;
