-- The first schema. It only creates tables, so it takes milliseconds whatever the database holds.
-- Times are Unix milliseconds. Tables that the hot path writes (push, pending, delivered, outcome) carry no
-- foreign key and no second index: each would cost a look-up or a page write for every push. `borealis check`
-- finds orphans.

-- Apps: tenants with a key and a secret.
CREATE TABLE app (
  id INTEGER PRIMARY KEY,
  app_key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  secret_hash BLOB NOT NULL CHECK (length(secret_hash) = 32),
  created_at INTEGER NOT NULL,
  next_number INTEGER NOT NULL DEFAULT 0, -- of the next registration; numbers are never used again
  disabled INTEGER NOT NULL DEFAULT 0
) STRICT;

-- One install of one app on one device. A replaced registration's row is deleted.
CREATE TABLE registration (
  app_id INTEGER NOT NULL REFERENCES app (id),
  number INTEGER NOT NULL,
  registration_id BLOB NOT NULL UNIQUE CHECK (length(registration_id) = 10),
  secret_hash BLOB NOT NULL CHECK (length(secret_hash) = 16),
  platform INTEGER NOT NULL,
  fingerprint BLOB NOT NULL, -- empty: the device named none
  alias TEXT,
  tags BLOB, -- sorted big-endian 32-bit tag numbers
  apns_environment INTEGER NOT NULL DEFAULT 0,
  apns_token BLOB,
  badge INTEGER NOT NULL DEFAULT 0,
  mobile TEXT,
  app_version TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  PRIMARY KEY (app_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX registration_alias ON registration (app_id, alias) WHERE alias IS NOT NULL;
CREATE INDEX registration_fingerprint ON registration (app_id, fingerprint) WHERE fingerprint <> x'';
CREATE INDEX registration_apns_token ON registration (app_id, apns_token) WHERE apns_token IS NOT NULL;

-- Names of tags; registrations hold the numbers.
CREATE TABLE tag (
  app_id INTEGER NOT NULL REFERENCES app (id),
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (app_id, number),
  UNIQUE (app_id, name)
) STRICT, WITHOUT ROWID;

-- One accepted push.
CREATE TABLE push (
  msg_id INTEGER PRIMARY KEY,
  app_id INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  sendno INTEGER NOT NULL,
  platforms INTEGER NOT NULL, -- bit set
  target INTEGER, -- number of the only registration
  targets BLOB, -- set of numbers, in the router's own encoding
  target_count INTEGER NOT NULL,
  strategy INTEGER NOT NULL,
  overrides INTEGER, -- msg_id of the push that this one replaces
  content BLOB NOT NULL
) STRICT;

-- A row stays here while something of the push is undelivered: small, so that a start reads little.
CREATE TABLE pending (
  msg_id INTEGER PRIMARY KEY,
  app_id INTEGER NOT NULL,
  target INTEGER,
  expires_at INTEGER NOT NULL
) STRICT;

-- Who acknowledged an open push to many, in the router's own encoding.
CREATE TABLE delivered (
  msg_id INTEGER PRIMARY KEY,
  targets BLOB NOT NULL
) STRICT;

-- How a push ended: 0 open, 1 delivered, 2 expired, 3 recalled, 4 overridden, 5 dropped.
CREATE TABLE outcome (
  msg_id INTEGER PRIMARY KEY,
  status INTEGER NOT NULL,
  at INTEGER NOT NULL,
  shown_at INTEGER,
  tapped_at INTEGER
) STRICT;

-- Customers' own request names, which make a repeated request safe. Rows are swept in the order of `id`.
CREATE TABLE cid (
  id INTEGER PRIMARY KEY,
  app_id INTEGER NOT NULL REFERENCES app (id),
  cid TEXT NOT NULL,
  msg_id INTEGER NOT NULL,
  sendno INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (app_id, cid)
) STRICT;
