-- The name whose words are in pet_words; null until the service has stored them. The partial index finds the pets that it
-- must still index: those from before this migration, and those that the version before creates or renames.
ALTER TABLE pets ADD COLUMN indexed_name TEXT COLLATE "C";
CREATE INDEX pets_to_index ON pets (id) WHERE indexed_name IS NULL OR indexed_name <> name_key;

-- The words of each name, except for a first word that the indexes by name find. The key is the order of search results.
CREATE TABLE pet_words (
  word TEXT COLLATE "C" NOT NULL,
  name_key TEXT COLLATE "C" NOT NULL,
  pet_id BIGINT NOT NULL,
  PRIMARY KEY (word, name_key, pet_id)
);

-- The dictionary: every word that a typing error can lead to.
CREATE TABLE words (
  word TEXT COLLATE "C" NOT NULL PRIMARY KEY
);

-- The start of each word of the dictionary without up to two of its letters. A word with typing errors shares a variant.
CREATE TABLE word_variants (
  variant TEXT COLLATE "C" NOT NULL,
  word TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (variant, word)
);

-- Pets that were deleted without their words, which the service removes: only a version before this migration deletes so.
CREATE TABLE deleted_names (
  id BIGINT NOT NULL PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL
);
CREATE FUNCTION keep_deleted_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deleted_names (id, name) VALUES (OLD.id, OLD.indexed_name);
  RETURN NULL;
END $$;
CREATE TRIGGER pets_deleted AFTER DELETE ON pets FOR EACH ROW
  WHEN (OLD.indexed_name IS NOT NULL) EXECUTE FUNCTION keep_deleted_name();
