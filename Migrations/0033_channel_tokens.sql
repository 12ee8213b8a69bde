-- Tokens of any channel, and what pushes on any channel have taken for a device. Copies two small tables: tokens for calls and
-- Live Activities, and pushes that are on their way to Apple. About a second for a million rows.

-- A registration's tokens beside the ordinary one of APNs (channel 2, kind 1), which stands in `registration`. A row without a
-- token says since when there is none, and why; a token with a name leaves no such row.
CREATE TABLE channel_token (
  app_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  channel INTEGER NOT NULL,
  kind INTEGER NOT NULL, -- the channel's own number
  name TEXT NOT NULL, -- empty for a kind of which a registration has one
  service INTEGER NOT NULL, -- the channel's own number, from 1 on; 0 without a token
  token BLOB,
  told_at INTEGER NOT NULL,
  since INTEGER NOT NULL, -- when the token became what it is, or went; 0 if nobody noted it
  token_end INTEGER NOT NULL DEFAULT 0, -- why there is none, as in registration
  PRIMARY KEY (app_id, number, channel, kind, name),
  FOREIGN KEY (app_id, number) REFERENCES registration (app_id, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

INSERT INTO channel_token (app_id, number, channel, kind, name, service, token, told_at, since)
SELECT app_id, number, 2, kind, name, environment, token, told_at, 0 FROM apns_token;
DROP TABLE apns_token;

-- A token is one device's alone. Without the channel, so that a device is found by its token.
CREATE INDEX channel_token_token ON channel_token (app_id, token) WHERE token IS NOT NULL;

-- What a push has done for a device before a channel's service is asked, and must not do twice: see apns_taken of 0023 and 0025.
CREATE TABLE channel_taken (
  msg_id INTEGER NOT NULL,
  channel INTEGER NOT NULL,
  kind INTEGER NOT NULL, -- of the token, as in channel_token
  range BLOB NOT NULL, -- the first three bytes of the registration numbers in it
  taken BLOB NOT NULL, -- four bytes of registration number and four of number for the icon each, most significant first
  PRIMARY KEY (msg_id, channel, kind, range)
) STRICT, WITHOUT ROWID;

INSERT INTO channel_taken (msg_id, channel, kind, range, taken)
SELECT msg_id, 2, kind, range, taken FROM apns_taken;
DROP TABLE apns_taken;
