-- Files of aliases or registration IDs, which pushes name as their audience.

CREATE TABLE file (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: pieces of a deleted file may still be there
  owner TEXT NOT NULL, -- the key of the app
  file_id TEXT NOT NULL UNIQUE,
  kind INTEGER NOT NULL CHECK (kind IN (1, 2)), -- 1 aliases, 2 registration IDs
  name TEXT NOT NULL,
  count INTEGER NOT NULL, -- of the values
  pieces INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL, -- a deleted file has ended at its deletion
  is_complete INTEGER NOT NULL DEFAULT 0 -- all pieces are there
) STRICT;

CREATE INDEX file_owner ON file (owner);

-- The values, one a line. In pieces, so that neither writing nor reading a file holds up pushes.
CREATE TABLE file_piece (
  file INTEGER NOT NULL,
  number INTEGER NOT NULL, -- from 0
  lines BLOB NOT NULL,
  PRIMARY KEY (file, number)
) STRICT, WITHOUT ROWID;
