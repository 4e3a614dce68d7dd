-- The name whose words are in pet_words; null until the service has stored them. The partial index finds the pets that it
-- must still index: those from before this migration.
ALTER TABLE pets ADD COLUMN indexed_name TEXT;
CREATE INDEX pets_to_index ON pets (id) WHERE indexed_name IS NULL OR indexed_name <> name_key;

-- The words of each name, except for a first word that the indexes by name find. The key is the order of search results.
CREATE TABLE pet_words (
  word TEXT NOT NULL,
  name_key TEXT NOT NULL,
  pet_id INTEGER NOT NULL,
  PRIMARY KEY (word, name_key, pet_id)
) STRICT, WITHOUT ROWID;

-- The dictionary: every word that a typing error can lead to.
CREATE TABLE words (
  word TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- The start of each word of the dictionary without up to two of its letters. A word with typing errors shares a variant.
CREATE TABLE word_variants (
  variant TEXT NOT NULL,
  word TEXT NOT NULL,
  PRIMARY KEY (variant, word)
) STRICT, WITHOUT ROWID;

-- Pets that were deleted without their words, which the service removes: only a version before this migration deletes so.
CREATE TABLE deleted_names (
  id INTEGER NOT NULL PRIMARY KEY,
  name TEXT NOT NULL
) STRICT;
CREATE TRIGGER pets_deleted AFTER DELETE ON pets WHEN OLD.indexed_name IS NOT NULL
BEGIN
  INSERT INTO deleted_names (id, name) VALUES (OLD.id, OLD.indexed_name);
END;
