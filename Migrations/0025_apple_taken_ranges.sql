-- A row of apns_taken held what was taken at one time, so that rows overlapped and each look-up went through all earlier ones of
-- its push. Now a row holds 256 neighbouring registration numbers, and a look-up reads those that it asks for. Rows exist for
-- pushes on their way to Apple only: about a second for a million devices of such pushes.
CREATE TABLE apns_taken_new (
  msg_id INTEGER NOT NULL,
  kind INTEGER NOT NULL, -- of the token, as in apns_token; 1 the ordinary one
  range BLOB NOT NULL, -- the first three bytes of the registration numbers in it
  taken BLOB NOT NULL, -- four bytes of registration number and four of number for the icon each, most significant first
  PRIMARY KEY (msg_id, kind, range)
) STRICT, WITHOUT ROWID;

-- Blobs are put together as text: SQLite copies their bytes as they are.
INSERT INTO apns_taken_new (msg_id, kind, range, taken)
WITH RECURSIVE place (start) AS (
  SELECT 1
  UNION ALL
  SELECT start + 8 FROM place WHERE start + 8 < (SELECT max(length(taken)) FROM apns_taken)
), entry (msg_id, kind, bytes) AS MATERIALIZED (
  SELECT msg_id, kind, substr(taken, start, 8) FROM apns_taken JOIN place ON start < length(taken)
)
SELECT msg_id, kind, substr(bytes, 1, 3), CAST(group_concat(bytes, '') AS BLOB)
FROM entry GROUP BY msg_id, kind, substr(bytes, 1, 3);

DROP TABLE apns_taken;
ALTER TABLE apns_taken_new RENAME TO apns_taken;
