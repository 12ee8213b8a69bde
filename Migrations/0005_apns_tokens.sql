-- Tokens for calls and for Live Activities, and what became of the pushes to them. A push may go to two tokens of a device:
-- answers and results are now kept by kind of token. Copies small tables; takes seconds where many results are kept.

-- Tokens beside the ordinary one, which stands in `registration`.
CREATE TABLE apns_token (
  app_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  kind INTEGER NOT NULL, -- 2 calls, 3 one Live Activity, 4 to start Live Activities of one type
  name TEXT NOT NULL, -- the activity's, or the type's; empty for calls
  environment INTEGER NOT NULL,
  token BLOB NOT NULL,
  told_at INTEGER NOT NULL,
  PRIMARY KEY (app_id, number, kind, name),
  FOREIGN KEY (app_id, number) REFERENCES registration (app_id, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- A token is one device's alone.
CREATE INDEX apns_token_token ON apns_token (app_id, token);

-- Who gets a call from Apple: a set in the router's own encoding, NULL for nobody.
ALTER TABLE push ADD COLUMN call_targets BLOB;

CREATE TABLE apns_answered_by_kind (
  msg_id INTEGER NOT NULL,
  kind INTEGER NOT NULL, -- 1 the ordinary token, others as above
  targets BLOB NOT NULL,
  PRIMARY KEY (msg_id, kind)
) STRICT;
INSERT INTO apns_answered_by_kind (msg_id, kind, targets) SELECT msg_id, 1, targets FROM apns_answered;
DROP TABLE apns_answered;
ALTER TABLE apns_answered_by_kind RENAME TO apns_answered;

CREATE TABLE apns_result_by_kind (
  msg_id INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  reason TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (msg_id, kind, reason)
) STRICT, WITHOUT ROWID;
INSERT INTO apns_result_by_kind (msg_id, kind, reason, count) SELECT msg_id, 1, reason, count FROM apns_result;
DROP TABLE apns_result;
ALTER TABLE apns_result_by_kind RENAME TO apns_result;
