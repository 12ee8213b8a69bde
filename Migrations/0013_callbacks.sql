-- What app servers are told. Only new tables: milliseconds, whatever the database holds.

-- What an app has set up. The secrets are sealed; Docs/decisions/0012 says how.
CREATE TABLE callback_setting (
  app_id INTEGER PRIMARY KEY REFERENCES app (id),
  url TEXT, -- NULL: only pushes that name an address of their own are told of
  types INTEGER NOT NULL, -- bit set
  secret BLOB NOT NULL,
  old_secret BLOB, -- signs beside the new one until old_until
  old_until INTEGER,
  changed_at INTEGER NOT NULL,
  CHECK ((old_secret IS NULL) = (old_until IS NULL))
) STRICT;

-- What is told of a push. Pushes of which nothing is told have no row.
CREATE TABLE push_callback (
  msg_id INTEGER PRIMARY KEY,
  url TEXT, -- NULL: the app's own
  types INTEGER NOT NULL, -- bit set
  sendno INTEGER NOT NULL,
  params BLOB NOT NULL -- a JSON object, or empty
) STRICT;

-- Apps that have ever had such a push: the events of all others are passed over at once.
CREATE TABLE callback_app (
  app_id INTEGER PRIMARY KEY
) STRICT;

-- What is still to be told of many registrations, step by step: of those that acknowledged or tapped a push at the same
-- time, or of those who will not get one that is over.
CREATE TABLE callback_bulk (
  id INTEGER PRIMARY KEY,
  msg_id INTEGER NOT NULL,
  app_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  types INTEGER NOT NULL, -- bit set: what is told
  channel INTEGER, -- by which way, if that is known
  targets BLOB, -- of whom, in the router's own encoding; NULL for all who will not get the push
  next INTEGER NOT NULL DEFAULT 0 -- the number of the first registration that is not told of
) STRICT;

CREATE UNIQUE INDEX callback_bulk_rest ON callback_bulk (msg_id) WHERE targets IS NULL;

-- Up to 100 events for one address, written in the transaction that stores what they tell. The body is what is sent, to
-- the byte.
CREATE TABLE callback_batch (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: receivers know it
  app_id INTEGER NOT NULL,
  origin TEXT NOT NULL, -- scheme, host and port of the address, empty for the app's own
  url TEXT, -- NULL: the app's own when it is sent
  events INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL, -- when it is given up
  state INTEGER NOT NULL DEFAULT 0 CHECK (state IN (0, 1, 2)), -- 0 waits, 1 done, 2 given up
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL, -- when it is sent next
  status INTEGER NOT NULL DEFAULT 0, -- the latest answer, 0 for none
  error TEXT, -- why the latest attempt failed
  done_at INTEGER, -- when it left state 0
  body BLOB NOT NULL -- the last column: lists are read without it
) STRICT;

CREATE INDEX callback_batch_due ON callback_batch (app_id, origin, next_at) WHERE state = 0;
CREATE INDEX callback_batch_list ON callback_batch (app_id, state, id);

-- What came of each attempt.
CREATE TABLE callback_attempt (
  batch_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  at INTEGER NOT NULL,
  milliseconds INTEGER NOT NULL,
  status INTEGER NOT NULL,
  error TEXT,
  PRIMARY KEY (batch_id, number)
) STRICT, WITHOUT ROWID;
