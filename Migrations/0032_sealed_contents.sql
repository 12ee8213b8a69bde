-- Contents that are sealed before they are stored, for apps that ask for it. Two columns with a constant default and an empty
-- table: takes no time, whatever the database holds.

-- 1 if what is stored of the app's contents from now on is sealed, and when that was last changed.
ALTER TABLE app ADD COLUMN seals_contents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE app ADD COLUMN seals_changed_at INTEGER;

-- Read in each transaction that stores a content: as long as the few apps that ask for it.
CREATE INDEX app_seals_contents ON app (id) WHERE seals_contents = 1;

-- The secret keys that contents may be sealed with, by which a missing one is noticed without reading all contents. The one with
-- the largest number seals.
CREATE TABLE content_sealing_key (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  key_id BLOB NOT NULL UNIQUE CHECK (length(key_id) = 8),
  probe BLOB NOT NULL -- no bytes, sealed with it
) STRICT;
