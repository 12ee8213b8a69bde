-- Each vendor's channel has its queue, targets and answers in the same tables: what was Apple's gets the number of its
-- channel, 2. Reads the pushes once and writes those to iPhones anew: some seconds for a million of them.

-- A row stays here while a channel's service has not answered for all of a push's devices. By app and channel, since each has
-- a queue of its own.
CREATE TABLE channel_pending (
  app_id INTEGER NOT NULL,
  channel INTEGER NOT NULL,
  msg_id INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (app_id, channel, msg_id)
) STRICT, WITHOUT ROWID;

INSERT INTO channel_pending SELECT app_id, 2, msg_id, expires_at FROM apns_pending;
DROP TABLE apns_pending;

-- Who is to get a leg of a push from a channel (outcome ''), and for whom there is an outcome: "delivered", the service's
-- reason or our own word. Leg 1 brings the notification, others come in addition: 2 of APNs is a call. Sets of numbers stand in
-- the router's own encoding; NULL in rows of before 0009.
CREATE TABLE channel_targets (
  msg_id INTEGER NOT NULL,
  channel INTEGER NOT NULL,
  leg INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  count INTEGER NOT NULL, -- of an outcome: sets only grow
  targets BLOB,
  PRIMARY KEY (msg_id, channel, leg, outcome)
) STRICT, WITHOUT ROWID;

INSERT INTO channel_targets
SELECT msg_id, 2, CASE kind WHEN 2 THEN 2 ELSE 1 END, reason, max(count), targets FROM apns_result GROUP BY 1, 3, 4;
DROP TABLE apns_result;

INSERT INTO channel_targets
SELECT msg_id, 2, 1, '', 0, apns_targets FROM push WHERE apns_targets IS NOT NULL;
INSERT INTO channel_targets
SELECT msg_id, 2, 2, '', 0, call_targets FROM push WHERE call_targets IS NOT NULL;
ALTER TABLE push DROP COLUMN apns_targets;
ALTER TABLE push DROP COLUMN call_targets;
