-- The ticket of the latest link that signs a browser in to the console: the SHA-256 of its text. Any replica can redeem it.
CREATE TABLE sign_in_tickets (
  hash BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
  issued_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
