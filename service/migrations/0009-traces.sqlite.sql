-- The header traceparent (W3C Trace Context) of the request that made the change; null for a change that is part of no trace.
ALTER TABLE events ADD COLUMN traceparent TEXT;
