-- A filtered page of the log reads only the events that pass the filter. The ID of a row is the last column of each index.
CREATE INDEX events_by_type ON events (type);
CREATE INDEX events_by_subject ON events (subject, type);
