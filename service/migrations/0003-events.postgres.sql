-- What is appended waits here for its number. An identity is given out before the commit, so it is not the order in which
-- events become visible: a relay numbers them as they do, one at a time.
CREATE TABLE new_events (
  entry BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  type TEXT NOT NULL,
  subject TEXT NOT NULL,
  time BIGINT NOT NULL,
  -- The resource after the change, as JSON.
  data TEXT NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

-- The log of events, numbered without gaps.
CREATE TABLE events (
  id BIGINT PRIMARY KEY,
  type TEXT NOT NULL,
  subject TEXT NOT NULL,
  time BIGINT NOT NULL,
  data TEXT NOT NULL
);

-- The number of the latest event, which may have expired.
CREATE TABLE event_log (last_id BIGINT NOT NULL);
INSERT INTO event_log VALUES (0);
