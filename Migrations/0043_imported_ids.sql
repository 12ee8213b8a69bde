-- The ID that an imported registration had on its former platform, where it is not the registration ID. Adds a column: milliseconds.

-- NULL: not imported, imported under the same ID, or imported before this migration.
ALTER TABLE registration ADD COLUMN imported_id TEXT;
