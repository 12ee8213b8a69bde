-- Why a push did not arrive: when a device's alias, tags and token came, and how its last connection ended. Only new columns
-- and a table: milliseconds, whatever the database holds. What nobody noted is NULL, or 0.

-- When the alias became what it is.
ALTER TABLE registration ADD COLUMN alias_at INTEGER;
-- When each of `tags` came: 32-bit big-endian Unix seconds in the same order, 0 for unknown.
ALTER TABLE registration ADD COLUMN tag_times BLOB;
-- The latest tags that went, newest first: number and Unix seconds of each, 32 bits big-endian.
ALTER TABLE registration ADD COLUMN lost_tags BLOB;
-- Since when the ordinary token is what it is, or missing, and why it is: 1 the device took it away, 2 Apple said that it is
-- gone, 3 another registration told it.
ALTER TABLE registration ADD COLUMN token_since INTEGER;
ALTER TABLE registration ADD COLUMN token_end INTEGER NOT NULL DEFAULT 0;
-- How the last connection ended as of last_seen_at; 1 if it was there then.
ALTER TABLE registration ADD COLUMN last_end INTEGER NOT NULL DEFAULT 0;

-- Registrations that are no more, and which took their places.
CREATE TABLE gone_registration (
  id INTEGER PRIMARY KEY,
  registration_id BLOB NOT NULL UNIQUE CHECK (length(registration_id) = 10),
  app_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  platform INTEGER NOT NULL,
  successor BLOB, -- registration_id of the one in its place
  at INTEGER NOT NULL
) STRICT;

CREATE INDEX gone_registration_app ON gone_registration (app_id);
