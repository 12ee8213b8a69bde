-- API keys: secrets of an app beside its master secret, each with rights of its own. A few rows for each app.
CREATE TABLE api_key (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: the log of requests names it
  app_id INTEGER NOT NULL REFERENCES app (id),
  name TEXT NOT NULL, -- for people
  secret_hash BLOB NOT NULL CHECK (length(secret_hash) = 32), -- SHA-256
  secret_end TEXT NOT NULL, -- the last four characters, by which people recognize a secret
  rights INTEGER NOT NULL CHECK (rights BETWEEN 1 AND 15), -- 1 push, 2 devices, 4 reports, 8 settings
  networks TEXT, -- that its calls may come from, with spaces between them; NULL for everywhere
  created_at INTEGER NOT NULL,
  expires_at INTEGER, -- NULL for never
  last_used_at INTEGER, -- up to a minute behind
  revoked_at INTEGER -- the row stays as long as the log of requests may name it
) STRICT;

CREATE INDEX api_key_app ON api_key (app_id);

-- Calls of the HTTP APIs, for seven days. A row stands for the calls of a minute that are alike. The numbers of an app's rows of
-- a kind grow, and the oldest rows are deleted beyond a limit for each kind: what anybody can cause cannot displace what
-- the app's own servers do.
CREATE TABLE api_request (
  app_id INTEGER NOT NULL,
  kind INTEGER NOT NULL CHECK (kind IN (0, 1, 2)), -- 0 successful, 1 refused, 2 refused to somebody without a valid secret
  seq INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  count INTEGER NOT NULL,
  method TEXT NOT NULL,
  route TEXT NOT NULL, -- the pattern, without what stands in its place in a path; '-' for an unknown path
  status INTEGER NOT NULL,
  code INTEGER NOT NULL, -- of the API's error; 0 for none
  message TEXT NOT NULL, -- the same, without values of the request
  address TEXT NOT NULL, -- of the caller; empty if it is not known, or for calls from several addresses
  key_id INTEGER NOT NULL, -- 0 for the master secret, or none
  PRIMARY KEY (app_id, kind, seq)
) STRICT, WITHOUT ROWID;
