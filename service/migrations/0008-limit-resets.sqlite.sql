-- How often the limits of a key were reset. What was counted before the last time is known by its smaller number.
ALTER TABLE api_keys ADD COLUMN limits_resets INTEGER NOT NULL DEFAULT 0 CHECK (limits_resets >= 0);
ALTER TABLE key_limits ADD COLUMN resets INTEGER NOT NULL DEFAULT 0 CHECK (resets >= 0);
ALTER TABLE key_usage ADD COLUMN resets INTEGER NOT NULL DEFAULT 0 CHECK (resets >= 0);

-- Requests of the day from before the last reset. They are use, but no longer count.
ALTER TABLE key_usage ADD COLUMN earlier_admitted INTEGER NOT NULL DEFAULT 0 CHECK (earlier_admitted >= 0);
ALTER TABLE key_usage ADD COLUMN earlier_refused INTEGER NOT NULL DEFAULT 0 CHECK (earlier_refused >= 0);
