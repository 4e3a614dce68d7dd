-- A filtered page of the log reads only the events that pass the filter.
CREATE INDEX events_by_type ON events (type, id);
CREATE INDEX events_by_subject ON events (subject, type, id);
