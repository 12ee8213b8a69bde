-- What a push to Apple has done for a device before Apple is asked, and must not do twice: a number for the icon was taken, or a
-- call is being tried, which is tried once. A row holds it for some devices; rows go when the push's way to Apple ends. A new
-- table: milliseconds, whatever the database holds.
CREATE TABLE apns_taken (
  msg_id INTEGER NOT NULL,
  kind INTEGER NOT NULL, -- of the token, as in apns_token; 1 the ordinary one
  first INTEGER NOT NULL, -- the smallest registration number in it
  last INTEGER NOT NULL, -- and the largest
  taken BLOB NOT NULL, -- four bytes of registration number and four of number for the icon each, most significant first
  PRIMARY KEY (msg_id, kind, first)
) STRICT, WITHOUT ROWID;
