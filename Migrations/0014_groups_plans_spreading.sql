-- Groups of apps, which get pushes together.

CREATE TABLE app_group (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: pushes of a deleted group stay
  group_key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  secret_hash BLOB NOT NULL CHECK (length(secret_hash) = 32),
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE app_group_member (
  group_id INTEGER NOT NULL REFERENCES app_group (id),
  app_id INTEGER NOT NULL REFERENCES app (id),
  PRIMARY KEY (group_id, app_id)
) STRICT, WITHOUT ROWID;

-- A push to the apps of a group.
CREATE TABLE group_push (
  group_msgid INTEGER PRIMARY KEY, -- from the sequence of the pushes' IDs
  group_id INTEGER NOT NULL,
  sendno INTEGER NOT NULL,
  cid TEXT, -- cleared when it is used anew after its time
  created_at INTEGER NOT NULL,
  UNIQUE (group_id, cid)
) STRICT;

-- What each app made of it: a push, or a refusal.
CREATE TABLE group_push_member (
  group_msgid INTEGER NOT NULL,
  app_key TEXT NOT NULL,
  msg_id INTEGER,
  code INTEGER, -- of the refusal
  status INTEGER,
  message TEXT,
  PRIMARY KEY (group_msgid, app_key),
  CHECK ((msg_id IS NULL) = (code IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- Pushes that are being spread over some time. A row goes when all of its push is released: from then on it is like any
-- other.
CREATE TABLE steady_push (
  msg_id INTEGER PRIMARY KEY,
  app_id INTEGER NOT NULL,
  minutes INTEGER NOT NULL,
  ends_at INTEGER NOT NULL
) STRICT;

-- Push plans, which pushes are counted under, and devices for tests.

CREATE TABLE push_plan (
  app_id INTEGER NOT NULL REFERENCES app (id),
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  push_count INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  PRIMARY KEY (app_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE test_device (
  app_id INTEGER NOT NULL REFERENCES app (id),
  registration_id TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (app_id, registration_id)
) STRICT, WITHOUT ROWID;
