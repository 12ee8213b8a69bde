-- One table for what apps authenticate with at the services of all channels, in place of one for APNs and one for the others.
-- A credential is for one service of a channel, so that each is paused and replaced for itself. What is secret stands in
-- `sealed` only; Docs/decisions/0012 says how. A few rows for each app: takes no time.
CREATE TABLE credential (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: connections and log lines name it
  app_id INTEGER NOT NULL REFERENCES app (id),
  channel INTEGER NOT NULL,
  service INTEGER NOT NULL CHECK (service > 0), -- of the channel: 1 for the only one
  kind INTEGER NOT NULL CHECK (kind IN (1, 2)), -- 1 key or secret, 2 certificate
  subject TEXT NOT NULL, -- what it is for, as the service calls it: the bundle ID, the project, the app ID
  team_id TEXT, -- of APNs; of a certificate: if it names one
  name TEXT NOT NULL, -- which of the subject's it is: a key's ID; empty if nothing tells them apart
  fingerprint BLOB NOT NULL CHECK (length(fingerprint) IN (0, 32)), -- of APNs: of the public key or the certificate
  expires_at INTEGER, -- of a certificate
  created_at INTEGER NOT NULL,
  state INTEGER NOT NULL DEFAULT 0 CHECK (state IN (0, 1, 2)), -- 0 active, 1 retiring, 2 paused
  reason TEXT, -- why it is paused
  changed_at INTEGER NOT NULL, -- of the state
  replaced_by INTEGER, -- the next newer credential for the service, once there is one
  sealed BLOB NOT NULL, -- the last column: lists are read without it
  CHECK ((state = 2) = (reason IS NOT NULL))
) STRICT;

-- Numbers that were given to credentials of APNs are not given again.
INSERT INTO sqlite_sequence (name, seq) SELECT 'credential', seq FROM sqlite_sequence WHERE name = 'apns_credential';

INSERT INTO credential (id, app_id, channel, service, kind, subject, team_id, name, fingerprint, expires_at, created_at, state,
  reason, changed_at, replaced_by, sealed)
SELECT id, app_id, 2, environment, kind, topic, team_id, coalesce(key_id, ''), fingerprint, expires_at, created_at, state,
  reason, changed_at, replaced_by, sealed
FROM apns_credential;

INSERT INTO credential (app_id, channel, service, kind, subject, name, fingerprint, created_at, state, reason, changed_at, sealed)
SELECT app_id, channel, 1, 1, subject, name, x'', created_at, CASE WHEN reason IS NULL THEN 0 ELSE 2 END, reason, changed_at,
  sealed
FROM channel_credential ORDER BY created_at, app_id, channel;

-- What tokens have proven of a credential stays true under its new name.
UPDATE token_proof SET credential = (
  SELECT CAST(credential.id AS TEXT) FROM credential
  WHERE credential.app_id = token_proof.app_id AND credential.channel = token_proof.channel)
WHERE EXISTS (
  SELECT 1 FROM channel_credential AS former
  WHERE former.app_id = token_proof.app_id AND former.channel = token_proof.channel AND former.id = token_proof.credential);

CREATE INDEX credential_app ON credential (app_id, channel, service);

DROP TABLE apns_credential;

DROP TABLE channel_credential;
