-- Migration 43 of SQLite: the ID that an imported registration had on its former platform, where it is not the registration ID.

-- NULL: not imported, imported under the same ID, or imported before this migration.
ALTER TABLE registration ADD COLUMN imported_id text;
