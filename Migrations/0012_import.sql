-- Registrations that were taken over from another platform. New columns and a table: milliseconds.

-- An imported registration for which no device has come yet: 1 a device with its token takes it over, 2 one that names
-- its registration ID as well. 0 for all others.
ALTER TABLE registration ADD COLUMN adoption INTEGER NOT NULL DEFAULT 0;

-- What was imported, for the server that is running meanwhile: it keeps registrations in memory.
CREATE TABLE import_batch (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  app_id INTEGER NOT NULL,
  first INTEGER NOT NULL, -- number of the first registration
  count INTEGER NOT NULL
) STRICT;
