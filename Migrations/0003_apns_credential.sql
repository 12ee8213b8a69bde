-- What apps authenticate with at Apple. One row for each of Apple's environments that a credential is for, so that each is
-- paused and replaced for itself. What is secret stands in `sealed` only; Docs/decisions/0012 says how.
CREATE TABLE apns_credential (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: connections and log lines name it
  app_id INTEGER NOT NULL REFERENCES app (id),
  kind INTEGER NOT NULL CHECK (kind IN (1, 2)), -- 1 key for provider tokens, 2 certificate
  environment INTEGER NOT NULL CHECK (environment IN (1, 2)), -- 1 production, 2 sandbox
  topic TEXT NOT NULL, -- the app's bundle ID
  team_id TEXT, -- of a certificate: if it names one
  key_id TEXT, -- of a key
  fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32), -- of the public key or the certificate
  expires_at INTEGER, -- of a certificate
  created_at INTEGER NOT NULL,
  state INTEGER NOT NULL DEFAULT 0 CHECK (state IN (0, 1, 2)), -- 0 active, 1 retiring, 2 paused
  reason TEXT, -- why it is paused
  changed_at INTEGER NOT NULL, -- of the state
  replaced_by INTEGER, -- the next newer credential for the environment, once there is one
  sealed BLOB NOT NULL, -- the last column: lists are read without it
  CHECK ((state = 2) = (reason IS NOT NULL))
) STRICT;

CREATE INDEX apns_credential_app ON apns_credential (app_id, environment);
