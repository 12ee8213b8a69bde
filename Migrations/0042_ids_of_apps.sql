-- A registration ID belongs to an app: two apps may import the same table. Copies registrations and those that were replaced; about ten
-- seconds for a million.

CREATE TABLE registration_of_app (
  app_id INTEGER NOT NULL REFERENCES app (id),
  number INTEGER NOT NULL,
  registration_id BLOB NOT NULL CHECK (length(registration_id) = 10),
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
  apns_token_at INTEGER NOT NULL DEFAULT 0,
  adoption INTEGER NOT NULL DEFAULT 0,
  alias_at INTEGER,
  tag_times BLOB,
  lost_tags BLOB,
  token_since INTEGER,
  token_end INTEGER NOT NULL DEFAULT 0,
  last_end INTEGER NOT NULL DEFAULT 0,
  blocked_at INTEGER,
  PRIMARY KEY (app_id, number),
  UNIQUE (app_id, registration_id)
) STRICT, WITHOUT ROWID;

INSERT INTO registration_of_app (app_id, number, registration_id, secret_hash, platform, fingerprint, alias, tags,
  apns_environment, apns_token, badge, mobile, app_version, created_at, last_seen_at, apns_token_at, adoption, alias_at,
  tag_times, lost_tags, token_since, token_end, last_end, blocked_at)
SELECT app_id, number, registration_id, secret_hash, platform, fingerprint, alias, tags,
  apns_environment, apns_token, badge, mobile, app_version, created_at, last_seen_at, apns_token_at, adoption, alias_at,
  tag_times, lost_tags, token_since, token_end, last_end, blocked_at
FROM registration;
DROP TABLE registration;
ALTER TABLE registration_of_app RENAME TO registration;

CREATE INDEX registration_alias ON registration (app_id, alias) WHERE alias IS NOT NULL;
CREATE INDEX registration_fingerprint ON registration (app_id, fingerprint) WHERE fingerprint <> x'';
CREATE INDEX registration_apns_token ON registration (app_id, apns_token) WHERE apns_token IS NOT NULL;

CREATE TABLE gone_registration_of_app (
  id INTEGER PRIMARY KEY,
  registration_id BLOB NOT NULL CHECK (length(registration_id) = 10),
  app_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  platform INTEGER NOT NULL,
  successor BLOB, -- registration_id of the one in its place
  at INTEGER NOT NULL,
  UNIQUE (app_id, registration_id)
) STRICT;

INSERT INTO gone_registration_of_app (id, registration_id, app_id, number, platform, successor, at)
SELECT id, registration_id, app_id, number, platform, successor, at FROM gone_registration;
DROP TABLE gone_registration;
ALTER TABLE gone_registration_of_app RENAME TO gone_registration;

CREATE INDEX gone_registration_app ON gone_registration (app_id, number);
