-- Apple's service as a second channel. Only new columns and tables: milliseconds, whatever the database holds.

-- Who waits for a push over our own connection, and who gets it from Apple: sets of numbers, in the router's own encoding.
-- NULL in own_targets stands for all targets, NULL in apns_targets for nobody.
ALTER TABLE push ADD COLUMN own_targets BLOB;
ALTER TABLE push ADD COLUMN apns_targets BLOB;

-- When the device last told its token: Apple's word that a token is gone counts only if it is newer.
ALTER TABLE registration ADD COLUMN apns_token_at INTEGER NOT NULL DEFAULT 0;

-- A row stays here while Apple has not answered for all of a push's devices. By app, since each has a queue of its own.
CREATE TABLE apns_pending (
  app_id INTEGER NOT NULL,
  msg_id INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (app_id, msg_id)
) STRICT, WITHOUT ROWID;

-- For whom Apple has answered, of a push that is still in apns_pending.
CREATE TABLE apns_answered (
  msg_id INTEGER PRIMARY KEY,
  targets BLOB NOT NULL
) STRICT;

-- What Apple answered: how many devices of a push had each outcome ("delivered", or Apple's reason).
CREATE TABLE apns_result (
  msg_id INTEGER NOT NULL,
  reason TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (msg_id, reason)
) STRICT, WITHOUT ROWID;
