-- The log of events. What is appended is numbered at once, without gaps: one transaction runs at a time, and one that is
-- rolled back takes its numbers with it.
CREATE TABLE new_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL,
  subject TEXT NOT NULL,
  time INTEGER NOT NULL,
  -- The resource after the change, as JSON.
  data TEXT NOT NULL
) STRICT;

CREATE VIEW events AS SELECT id, type, subject, time, data FROM new_events;
CREATE TRIGGER events_expire INSTEAD OF DELETE ON events BEGIN
  DELETE FROM new_events WHERE id = old.id;
END;

-- The number of the latest event, which may have expired.
CREATE VIEW event_log AS
  SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'new_events'), 0) AS last_id;
