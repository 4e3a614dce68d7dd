-- The log of events, numbered without gaps: one transaction runs at a time, and one that is rolled back takes its numbers
-- with it.
CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL,
  subject TEXT NOT NULL,
  time INTEGER NOT NULL,
  -- The resource after the change, as JSON.
  data TEXT NOT NULL
) STRICT;

-- The number of the latest event, which may have expired.
CREATE VIEW event_log AS
  SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) AS last_id;
