-- What became of a push for each of its targets can be told until the push is swept. Sets of numbers stand in the router's
-- own encoding, NULL for nobody. Only new columns and tables: milliseconds, whatever the database holds.

-- The targets on iOS, and those whom no channel can reach.
ALTER TABLE push ADD COLUMN ios_targets BLOB;
ALTER TABLE push ADD COLUMN unreached BLOB;
-- 1 for a push to those who are online alone: the others are unreached because they were not.
ALTER TABLE push ADD COLUMN online_only INTEGER NOT NULL DEFAULT 0;

-- From here on a row of `delivered` stays when its push ends, unless it ended by being delivered to all.

-- For whom Apple's answer, or our own word instead of one, stands; NULL in rows of before.
ALTER TABLE apns_result ADD COLUMN targets BLOB;
-- Is the union of those sets.
DROP TABLE apns_answered;

-- Those who will not get a push to several over our connection, and why: for lack of room, or of their registration.
CREATE TABLE dropped (
  msg_id INTEGER NOT NULL,
  reason TEXT NOT NULL,
  targets BLOB NOT NULL,
  PRIMARY KEY (msg_id, reason)
) STRICT, WITHOUT ROWID;

-- Who showed a push to several (kind 1), and whose user tapped it (kind 2). Those of a push to one stand in `outcome`.
CREATE TABLE receipt (
  msg_id INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  targets BLOB NOT NULL,
  PRIMARY KEY (msg_id, kind)
) STRICT, WITHOUT ROWID;
