-- Which tokens have worked with the credentials of channels, at most 64 for each app and service. An empty table:
-- takes no time.
CREATE TABLE token_proof (
  app_id INTEGER NOT NULL REFERENCES app (id),
  channel INTEGER NOT NULL,
  service INTEGER NOT NULL,
  credential TEXT NOT NULL, -- the ID of the credential that was used last
  is_proven INTEGER NOT NULL, -- whether it is known to be right
  working BLOB NOT NULL, -- hashes of tokens that have worked with it, of 16 bytes each
  former BLOB NOT NULL, -- the same of the credential before, until this one is known to be right
  PRIMARY KEY (app_id, channel, service)
) STRICT;
